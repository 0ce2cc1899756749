#!/usr/bin/env bash
# Installs the Debian packages that some tests use: a browser, two editors, fonts, LibreOffice, nginx, strace, tmux.
# Where they cannot be installed those tests skip with a reason, so this script never fails.
set -uo pipefail

missing=()
for package in chromium chromium-headless-shell elpa-eglot emacs-nox fonts-arphic-ukai fonts-noto-cjk \
    libreoffice-impress libreoffice-writer neovim nginx-light python3-uno strace tmux; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
    echo "These Debian packages are missing and only root can add them; the tests that need them will skip: ${missing[*]}"
    exit 0
fi
echo "Installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >/dev/null
# What a release does not have must not keep the others away: with no headless shell, the tests take Chromium itself.
known=()
for package in "${missing[@]}"; do
    apt-cache show "$package" >/dev/null 2>&1 && known+=("$package")
done
if ! apt-get install -y -qq --no-install-recommends "${known[@]}" >/dev/null; then
    echo "apt-get could not install them; the tests that need them will skip."
fi
exit 0
