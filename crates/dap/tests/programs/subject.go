// Debugged by the tests. The comments `mark: NAME` are how they find lines.
package main

import (
	"fmt"
	"os"
)

type point struct {
	x, y int
}

func add(a, b int) int {
	total := a + b // mark: add
	return total   // mark: return
}

func addAll() int {
	total := 0 // mark: start
	values := []int{10, 20, 30}
	place := point{1, 2}
	for i := 0; i < 5; i++ {
		total = add(total, i) // mark: call
	}
	fmt.Println("total", total, len(values), place.x) // mark: print
	return total
}

func crash() {
	panic("planted") // mark: crash
}

func work(number int, done chan int) {
	answer := number * 2
	done <- answer // mark: work
}

func threads() {
	done := make(chan int)
	go work(21, done)
	<-done
}

func loop() {
	turns := 0
	fmt.Println("looping", os.Getpid())
	for {
		turns++ // mark: loop
	}
}

func main() {
	mode := ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	switch mode {
	case "sum":
		addAll()
		os.Exit(3)
	case "crash":
		crash()
	case "threads":
		threads()
	case "loop":
		loop()
	}
}
