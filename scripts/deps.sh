#!/bin/sh
# Installs what building and running (`run`) or testing (`test`) needs and the machine lacks.
# Does nothing, and needs no rights, when all of it is there.
set -eu

missing=""
need() { # command-or-test package
    if ! sh -c "$1" >/dev/null 2>&1; then missing="$missing $2"; fi
}

need 'command -v postgres || ls /usr/lib/postgresql/*/bin/postgres' postgresql
need 'command -v cc' build-essential
need 'command -v npm' nodejs
need 'command -v npm' npm
if [ "${1:-run}" = test ]; then
    need 'command -v nats-server || ls /usr/sbin/nats-server' nats-server
    need 'command -v nginx || ls /usr/sbin/nginx' nginx-light
    need 'command -v chromium' chromium
    need 'command -v jq' jq
    need 'command -v curl' curl
fi
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "error: these are missing:$missing" >&2
    echo "hint: install them with your system's package manager, then run make again" >&2
    exit 1
fi
echo "installing:$missing"
as_root=""
[ "$(id -u)" = 0 ] || as_root=sudo
export DEBIAN_FRONTEND=noninteractive
# Debian's postgresql starts a server of its own; ours are private, so no service is started.
$as_root sh -c 'policy=/usr/sbin/policy-rc.d; made=""
if [ ! -e $policy ]; then printf "#!/bin/sh\nexit 101\n" >$policy; chmod +x $policy; made=1; fi
apt-get update -qq && apt-get install -y -qq --no-install-recommends '"$missing"'; code=$?
[ -z "$made" ] || rm -f $policy
exit $code'
