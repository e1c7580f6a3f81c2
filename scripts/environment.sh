# Sourced by the scripts beside it, from the checkout's root: makes .venv and keeps it
# current. Every word goes to stderr, because stdout belongs to the protocol.

venv=$root/.venv
lock=$root/.venv.lock

say() {
    printf 'tanbo-engine: %s\n' "$*" >&2
}

fail() {
    say "$*"
    exit 1
}

# Print the first Python that is new enough.
find_python() {
    for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
            >/dev/null 2>&1; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    return 1
}

# What has to be on the machine; each gap is one line that says what to install.
check_machine() {
    python=$(find_python) ||
        fail "needs Python 3.11 or newer; install it (Debian: apt install python3)"
    "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
        fail "Python's venv is missing; install it (Debian: apt install python3-venv)"
    "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
        fail "Python's C headers are missing; install them (Debian: apt install python3-dev)"
    command -v "${CC:-cc}" >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 ||
        fail "a C compiler is missing; install one (Debian: apt install gcc libc6-dev)"
}

# Tell whether .venv has this extra ("engine" means none) and a current kernel.
is_current() {
    [ -x "$venv/bin/python" ] && [ -e "$venv/.installed-$1" ] &&
        ls "$root"/tanbo_engine/_kernel.*.so >/dev/null 2>&1 &&
        [ -z "$(find "$root/pyproject.toml" "$root/tanbo_engine/_kernel.py" \
            "$root/tanbo_engine/_kernel.pxd" -newer "$venv/.installed-$1")" ]
}

# One installer at a time: a GUI may start several copies at once.
take_lock() {
    waited=0
    until mkdir "$lock" 2>/dev/null; do
        [ -d "$lock" ] || fail "cannot write to $root: the first start installs there"
        holder=$(cat "$lock/pid" 2>/dev/null || true)
        if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then
            say "taking over the lock of process $holder, which is gone"
            rm -rf "$lock"
            continue
        fi
        waited=$((waited + 1))
        [ "$waited" -lt 600 ] ||
            fail "another installation holds $lock; if none is running, remove it"
        sleep 1
    done
    trap 'rm -rf "$lock" "$fresh"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    echo $$ >"$lock/pid"
}

install_into() {
    what=$root
    [ "$2" = engine ] || what="$root[$2]"
    "$1/bin/python" -m pip --disable-pip-version-check --no-input --quiet install \
        --config-settings editable_mode=compat --editable "$what" >&2 ||
        fail "the installation failed; pip's own words are above"
    "$1/bin/python" -P -c 'import tanbo_engine._kernel' ||
        fail "the kernel was built but cannot be loaded"
    : >"$1/.installed-$2"
}

# A new environment grows under another name, so that a broken one is never used. Its
# scripts name their own folder, which has to be the final one.
make_environment() {
    say "installing into $venv, which takes about a minute"
    rm -rf "$venv" "$fresh"
    "$python" -m venv "$fresh" >&2 || fail "cannot make a virtual environment"
    install_into "$fresh" "$1"
    "$python" - "$fresh" "$venv" <<'END'
import pathlib, sys
old, new = (path.encode() for path in sys.argv[1:])
for file in pathlib.Path(sys.argv[1], "bin").iterdir():
    if not file.is_symlink() and old in (text := file.read_bytes()):
        file.write_bytes(text.replace(old, new))
END
    mv "$fresh" "$venv"
}

# Make sure that .venv holds the project and one of its extras.
ensure_environment() {
    fresh=$root/.venv.new
    ! is_current "$1" || return 0
    check_machine
    take_lock
    if ! is_current "$1"; then
        if [ -x "$venv/bin/python" ] && [ -e "$venv/.installed-engine" ]; then
            say "bringing $venv up to date"
            install_into "$venv" "$1"
            : >"$venv/.installed-engine"
        else
            make_environment "$1"
            : >"$venv/.installed-engine"
        fi
    fi
    rm -rf "$lock"
    trap - EXIT INT TERM HUP
}
