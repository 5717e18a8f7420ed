import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'

/**
 * Waits until its input ends, as it does with the process at its other end; then stops the server of the folder and removes
 * both. Where the server's user cannot enter the folder, a file in it says where the data are.
 */
const script = `cat > /dev/null
kept=$(sed -n 's/.*"folder": *"\\([^"]*\\)".*/\\1/p' "$0/postgres.location.json")
set -- "$0" \${kept:+"$kept"}
file=$(find "$@" -name postmaster.pid | head -n 1)
if [ -n "$file" ]; then
  pid=$(head -n 1 "$file")
  kill -INT "$pid"
  while kill -0 "$pid"; do sleep 0.1; done
fi
rm -rf "$@"`

/**
 * A program that is stopped by Ctrl-C or killed does not close its kit: its embedded server, which outlives it, and the
 * folder are removed all the same. Returns the way to remove them now.
 */
export function endWithProcess(folder: string): () => Promise<void> {
  const guard = spawn('sh', ['-c', script, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  const ended = once(guard, 'exit').catch(() => {})
  guard.unref()
  const input = guard.stdin as Socket
  input.on('error', () => {})
  input.unref()
  return async () => {
    guard.ref()
    input.end()
    await ended
  }
}
