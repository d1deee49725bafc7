# A formula for a tap; scripts/release fills in version and checksums.
class Termbridge < Formula
  desc "@SUMMARY@"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/termbridge-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256 aarch64-apple-darwin@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/termbridge-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256 x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/termbridge-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/termbridge-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "termbridge"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/termbridge.bash" => "termbridge"
    zsh_completion.install "completions/_termbridge"
    fish_completion.install "completions/termbridge.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/termbridge --version")
    system bin/"termbridge", "demo", "--fast"
  end
end
