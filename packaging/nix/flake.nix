# A flake of the released programs; scripts/release fills in version and checksums.
{
  description = "@SUMMARY@";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      version = "@VERSION@";
      released = {
        x86_64-linux = { target = "x86_64-unknown-linux-musl"; sha256 = "@SHA256 x86_64-unknown-linux-musl@"; };
        aarch64-linux = { target = "aarch64-unknown-linux-musl"; sha256 = "@SHA256 aarch64-unknown-linux-musl@"; };
        x86_64-darwin = { target = "x86_64-apple-darwin"; sha256 = "@SHA256 x86_64-apple-darwin@"; };
        aarch64-darwin = { target = "aarch64-apple-darwin"; sha256 = "@SHA256 aarch64-apple-darwin@"; };
      };
      package = system: { target, sha256 }:
        let pkgs = nixpkgs.legacyPackages.${system};
        in pkgs.stdenvNoCC.mkDerivation {
          pname = "termbridge";
          inherit version;
          src = pkgs.fetchurl {
            url = "@REPOSITORY@/releases/download/v${version}/termbridge-${version}-${target}.tar.gz";
            inherit sha256;
          };
          nativeBuildInputs = [ pkgs.installShellFiles ];
          installPhase = ''
            install -Dm755 termbridge $out/bin/termbridge
            installManPage man/*.1
            installShellCompletion --bash --name termbridge completions/termbridge.bash
            installShellCompletion --zsh completions/_termbridge
            installShellCompletion --fish completions/termbridge.fish
          '';
          meta = {
            description = "@SUMMARY@";
            homepage = "@REPOSITORY@";
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "termbridge";
            platforms = builtins.attrNames released;
          };
        };
    in
    {
      packages = builtins.mapAttrs (system: release: { default = package system release; }) released;
    };
}
