/** One finding of the doctor. `fix` says how to repair what failed. */
export type Check = { name: string; status: 'ok' | 'warn' | 'fail' | 'skipped'; detail: string; fix?: string }

export const ok = (name: string, detail: string): Check => ({ name, status: 'ok', detail })
export const warn = (name: string, detail: string, fix: string): Check => ({ name, status: 'warn', detail, fix })
export const fail = (name: string, detail: string, fix: string): Check => ({ name, status: 'fail', detail, fix })
export const skipped = (name: string, detail: string): Check => ({ name, status: 'skipped', detail })

const marks = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL', skipped: ' -  ' } as const

export function checksText(checks: readonly Check[]): string {
  const width = Math.max(...checks.map((check) => check.name.length))
  return checks
    .map(({ name, status, detail, fix }) => {
      const line = `${marks[status]}  ${name.padEnd(width)}  ${detail}`
      return fix === undefined ? line : `${line}\n      ${' '.repeat(width)}  → ${fix}`
    })
    .join('\n')
}

export function summaryText(checks: readonly Check[]): string {
  const count = (status: Check['status']) => checks.filter((check) => check.status === status).length
  const [failures, warnings] = [count('fail'), count('warn')]
  return `${count('ok')} passed, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}, ${failures} failed`
}
