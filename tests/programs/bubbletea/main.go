// The fruit menu of ../README.md in Bubble Tea, with a mouse.
//
// Written for the version that Debian 12 packages (0.19): no modules, no lipgloss, and mouse
// reports in the X10 encoding only.
package main

import (
	"fmt"
	"os"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	firstItemRow  = 2
	filterRow     = 8
	statusRow     = 9
	nothingChosen = 3
)

var items = []string{"Apple", "Banana", "Cherry", "Dragonfruit", "Elderberry"}

type menu struct {
	selected   int
	filtering  bool
	needle     string
	cols, rows int
	choice     string
}

func (m menu) visible() []string {
	var visible []string
	for _, item := range items {
		if strings.Contains(strings.ToLower(item), strings.ToLower(m.needle)) {
			visible = append(visible, item)
		}
	}
	return visible
}

func (m menu) Init() tea.Cmd {
	return nil
}

func (m menu) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case tea.WindowSizeMsg:
		m.cols, m.rows = message.Width, message.Height
	case tea.MouseMsg:
		row := message.Y - firstItemRow
		if message.Type == tea.MouseLeft && row >= 0 && row < len(m.visible()) {
			m.selected = row
		}
	case tea.KeyMsg:
		return m.keys(message)
	}
	return m, nil
}

// Bubble Tea 0.19 makes one message of what one read brings, so that text typed quickly comes as
// one key of several runes, with Enter and Backspace inside it.
func (m menu) keys(key tea.KeyMsg) (tea.Model, tea.Cmd) {
	if key.Type != tea.KeyRunes || len(key.Runes) == 1 {
		return m.key(key)
	}
	for _, r := range key.Runes {
		single := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}
		if r < ' ' || r == '\x7f' {
			single = tea.KeyMsg{Type: tea.KeyType(r)}
		}
		var command tea.Cmd
		if m, command = m.key(single); command != nil {
			return m, command
		}
	}
	return m, nil
}

func (m menu) key(key tea.KeyMsg) (menu, tea.Cmd) {
	name := key.String()
	switch {
	case name == "ctrl+c" || (name == "q" && !m.filtering):
		return m, tea.Quit
	case name == "enter":
		if visible := m.visible(); len(visible) > 0 {
			m.choice = visible[m.selected]
			return m, tea.Quit
		}
	case name == "down" || (name == "j" && !m.filtering):
		if m.selected+1 < len(m.visible()) {
			m.selected++
		}
	case name == "up" || (name == "k" && !m.filtering):
		if m.selected > 0 {
			m.selected--
		}
	case name == "/" && !m.filtering:
		m.filtering, m.selected = true, 0
	case m.filtering && name == "esc":
		m.filtering, m.needle, m.selected = false, "", 0
	case m.filtering && name == "backspace":
		if runes := []rune(m.needle); len(runes) > 0 {
			m.needle, m.selected = string(runes[:len(runes)-1]), 0
		}
	case m.filtering && (key.Type == tea.KeyRunes || key.Type == tea.KeySpace):
		m.needle, m.selected = m.needle+string(key.Runes), 0
	}
	return m, nil
}

func (m menu) View() string {
	var lines [statusRow + 1]string
	lines[0] = "Fruit menu"
	for index, item := range m.visible() {
		if index == m.selected {
			lines[firstItemRow+index] = "\x1b[7m> " + item + "\x1b[0m"
		} else {
			lines[firstItemRow+index] = "  " + item
		}
	}
	if m.filtering {
		lines[filterRow] = "Filter: " + m.needle
	}
	lines[statusRow] = fmt.Sprintf("Size: %dx%d", m.cols, m.rows)
	return strings.Join(lines[:], "\n")
}

func main() {
	program := tea.NewProgram(menu{}, tea.WithAltScreen(), tea.WithMouseCellMotion())
	final, err := program.StartReturningModel()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	choice := final.(menu).choice
	if choice == "" {
		fmt.Println("No choice")
		os.Exit(nothingChosen)
	}
	fmt.Println("You chose: " + choice)
}
