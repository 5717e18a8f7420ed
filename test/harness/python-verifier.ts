import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const pythonClient = fileURLToPath(new URL('../../clients/python', import.meta.url))

export const pythonMissing = spawnSync('python3', ['--version']).status !== 0

export type PythonVerdict = { ok: boolean; failed: string[]; statuses: string[] }

const driver = `
import json, sys
sys.path.insert(0, ${JSON.stringify(pythonClient)})
from assay_verify.__main__ import read_options
from assay_verify.evidence import verify_text
for line in sys.stdin:
    asked = json.loads(line)
    report = verify_text(asked['text'], read_options(['file'] + asked['args'])[1])
    checks = report['checks'] if report else []
    print(json.dumps({'ok': bool(report and report['ok']),
        'failed': sorted(one['name'] for one in checks if one['status'] == 'failed'),
        'statuses': sorted(one['name'] + ' ' + one['status'] for one in checks)}), flush=True)
`

/** One process for many files: its start takes longer than a verification. */
export function openPythonVerifier() {
  const child: ChildProcess = spawn('python3', ['-c', driver], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  return {
    verify: async (text: string, args: readonly string[] = []): Promise<PythonVerdict> => {
      child.stdin?.write(`${JSON.stringify({ text, args })}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error('the verifier ended')
      return JSON.parse(value) as PythonVerdict
    },
    close: async () => {
      const ended = once(child, 'exit')
      child.stdin?.end()
      await ended
    },
  }
}
