# Sourced by the scripts beside it, which set root: makes .venv and keeps it current.
# Every word goes to stderr, because stdout belongs to the protocol.

venv=$root/.venv
fresh=$root/.venv.new
lock=$root/.venv.lock
compiled="_kernel _prover _alphabeta" # modules, as pyproject.toml builds them

# Foreign settings would lead to foreign packages.
unset PYTHONPATH PYTHONHOME

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
    case $root in
    *:*) fail "the path $root has a colon, which a virtual environment cannot have" ;;
    esac
    python=$(find_python) ||
        fail "needs Python 3.11 or newer; install it (Debian: apt install python3)"
    "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
        fail "Python's venv is missing; install it (Debian: apt install python3-venv)"
    "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
        fail "Python's C headers are missing; install them (Debian: apt install python3-dev)"
    if [ -n "${CC:-}" ]; then
        command -v "${CC%% *}" >/dev/null 2>&1 ||
            fail "the C compiler CC=$CC does not exist; unset CC or install it"
    else
        command -v cc >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 ||
            fail "a C compiler is missing; install one (Debian: apt install gcc libc6-dev)"
    fi
}

# What an installation was made for: place, Python, and what its build depends on.
describe() {
    "$1/bin/python" -c 'import sys; print(sys.version_info[:2])' 2>/dev/null ||
        echo 'no Python'
    printf '%s\n' "$root"
    cksum <"$root/pyproject.toml"
    cat "$root"/tanbo_engine/_*.pxd | cksum
    for module in $compiled; do
        cksum <"$root/tanbo_engine/$module.py"
    done
}

# Tell whether .venv has this extra ("engine" means none) and a current kernel.
is_current() {
    [ -x "$venv/bin/python" ] && [ -e "$venv/.installed-$1" ] &&
        [ "$(describe "$venv")" = "$(cat "$venv/.installed-$1")" ] &&
        is_built &&
        ! is_copied
}

# Tell whether every compiled module is there.
is_built() {
    for module in $compiled; do
        ls "$root/tanbo_engine/$module".*.so >/dev/null 2>&1 || return 1
    done
}

# Tell whether someone ran "pip install ." in .venv: that copy would run, not this tree.
is_copied() {
    ls -d "$venv"/lib/python*/site-packages/tanbo_engine >/dev/null 2>&1
}

# A check-out or a copy may change times without contents; the guard reads times.
touch_kernel() {
    for module in $compiled; do
        built=$(ls "$root/tanbo_engine/$module".*.so | head -n 1)
        if [ -n "$(find "$root"/tanbo_engine/_*.py "$root"/tanbo_engine/_*.pxd \
            -newer "$built")" ]; then
            touch "$built" 2>/dev/null || true
        fi
    done
}

# One installer at a time: a GUI may start several copies at once.
take_lock() {
    waited=0
    until mkdir "$lock" 2>/dev/null; do
        [ -d "$lock" ] || fail "cannot write to $root: the first start installs there"
        holder=$(cat "$lock/pid" 2>/dev/null || true)
        if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null ||
            [ -z "$holder" ] && [ "$waited" -ge 10 ]; then
            say "taking over the lock of an installation that is gone"
            rm -rf "$lock"
            continue
        fi
        [ "$waited" -ne 1 ] ||
            say "waiting for another installation${holder:+ (process $holder)}"
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

pip_install() {
    place=$1
    shift
    (cd "$root" && "$place/bin/python" -m pip --disable-pip-version-check --no-input \
        --quiet install "$@") >&2 ||
        fail "the installation failed, pip's own words are above;" \
            "it needs the package index (network or a mirror) when something is missing"
}

# The tools that build the kernel stay in .venv: a rebuild needs no network then.
install_into() {
    extra=
    [ "$2" = engine ] || extra="[$2]"
    "$1/bin/python" -c 'import tomllib
for need in tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"]:
    print(need)' >"$1/build-requirements.txt"
    pip_install "$1" --requirement "$1/build-requirements.txt"
    pip_install "$1" --no-build-isolation --config-settings editable_mode=compat \
        --editable ".$extra"
    "$1/bin/python" -I -c 'from tanbo_engine import _alphabeta, _kernel, _prover' ||
        fail "the compiled modules were built but cannot be loaded"
    # A fast start also where the environment forbids Python to write its caches.
    "$1/bin/python" -I -m compileall -q "$root/protocol" "$root/tanbo_engine" >&2 || true
    describe "$1" >"$1/.installed-$2"
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

# Tell whether .venv can be brought up to date: made here, by a Python that still works.
is_usable() {
    [ -x "$venv/bin/python" ] && [ "$(head -n 2 "$venv/.installed-engine" 2>/dev/null)" = \
        "$(describe "$venv" | head -n 2)" ]
}

# Make sure that .venv holds the project and one of its extras.
ensure_environment() {
    if ! is_current "$1"; then
        check_machine
        take_lock
        cd "$root"
        if ! is_current "$1"; then
            if is_usable; then
                say "bringing $venv up to date"
                install_into "$venv" "$1"
            else
                make_environment "$1"
            fi
            describe "$venv" >"$venv/.installed-engine"
        fi
        rm -rf "$lock"
        trap - EXIT INT TERM HUP
    fi
    touch_kernel
}
