import type { Row } from './run-deaths.ts'

const columns: { title: string; of(row: Row): string }[] = [
  { title: 'path', of: ({ path }) => path },
  { title: 'port calls', of: ({ calls }) => String(calls) },
  { title: 'deaths', of: ({ deaths }) => String(deaths) },
  { title: 'recovered', of: ({ recovered }) => String(recovered) },
  { title: 'lost', of: ({ lost }) => String(lost) },
  { title: 'doubled', of: ({ doubled }) => String(doubled) },
  { title: 'slowest recovery', of: ({ slowestMs }) => `${(slowestMs / 1000).toFixed(1)} s` },
  { title: 'took', of: ({ seconds }) => `${seconds} s` },
]

export function total(rows: readonly Row[]): Row {
  const sum = (of: (row: Row) => number) => rows.reduce((all, row) => all + of(row), 0)
  return {
    path: 'all',
    calls: sum(({ calls }) => calls),
    deaths: sum(({ deaths }) => deaths),
    recovered: sum(({ recovered }) => recovered),
    lost: sum(({ lost }) => lost),
    doubled: sum(({ doubled }) => doubled),
    slowestMs: Math.max(0, ...rows.map(({ slowestMs }) => slowestMs)),
    seconds: sum(({ seconds }) => seconds),
    failures: rows.flatMap(({ failures }) => failures),
  }
}

/** One line a path; figures to the right. */
export function table(rows: readonly Row[]): string {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ of }) => of(row)))]
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => (line[index] ?? '').length)))
  return cells
    .map((line) =>
      line
        .map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)))
        .join('  '),
    )
    .join('\n')
}

export const asJson = (rows: readonly Row[]) =>
  JSON.stringify({
    paths: rows.map(({ slowestMs, whileWriting, ...row }) => ({
      ...row,
      slowest_recovery_ms: Math.round(slowestMs),
      ...(whileWriting === undefined ? {} : { while_writing: whileWriting }),
    })),
    deaths: total(rows).deaths,
    lost: total(rows).lost,
    doubled: total(rows).doubled,
  })
