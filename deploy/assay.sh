#!/bin/sh
# Commands of the operator beside deploy/assay.service: install -m 0755 deploy/assay.sh /usr/local/bin/assay
: "${ASSAY_HOME:=/var/lib/assay}"
: "${SIGNING_KEY_FILE:=/etc/assay/signing_keys}" "${LOG_KEY_FILE:=/etc/assay/log_key}"
: "${SETTLER_KEYS_FILE:=/etc/assay/settler_keys}" "${CUSTODY_KEYS_FILE:=/etc/assay/custody_keys}"
export ASSAY_HOME SIGNING_KEY_FILE LOG_KEY_FILE SETTLER_KEYS_FILE CUSTODY_KEYS_FILE
exec /usr/bin/node --env-file=/etc/assay/assay.env /opt/assay/packages/cli/bin/assay.mjs "$@"
