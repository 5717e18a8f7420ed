import { rm } from 'node:fs/promises'
import { startTestServer, type TestServer, testServerVariable } from '../packages/till/src/store/testing.ts'
import { temporaryHome } from './process/temporary-home.ts'
import { type FigureRow, reportFigures } from './report-figures.ts'

export type Bench = {
  /** A folder that is thrown away at the end. */
  home: string
  /** A throw-away database server, for this process and those it starts. */
  openServer(): Promise<TestServer>
  /** `--name 5` */
  option(name: string, fallback: number): number
  /** `--name` */
  flag(name: string): boolean
  /** Beside the rows: what explains them. */
  note(name: string, figures: unknown): void
}

/**
 * A bench measures and gives rows; what is around it is the same for all: a folder, a server, the rows printed and handed
 * on, and exit code 1 when a row that asks for something was missed.
 */
export async function runBench(measure: (bench: Bench) => Promise<readonly FigureRow[]>): Promise<void> {
  const home = await temporaryHome()
  const servers: TestServer[] = []
  try {
    const rows = await measure({
      home,
      openServer: async () => {
        const server = await startTestServer()
        servers.push(server)
        process.env[testServerVariable] = server.url
        return server
      },
      option: (name, fallback) => {
        const at = process.argv.indexOf(`--${name}`)
        return at < 0 ? fallback : Number(process.argv[at + 1])
      },
      flag: (name) => process.argv.includes(`--${name}`),
      note: (name, figures) => process.stdout.write(`${name} ${JSON.stringify(figures, bigintAsText, 2)}\n`),
    })
    reportFigures(...rows)
    for (const row of rows) process.stdout.write(`${lineOf(row)}\n`)
    process.exitCode = rows.some(({ reached }) => reached === false) ? 1 : 0
  } finally {
    for (const server of servers) await server.stop()
    await rm(home, { recursive: true, force: true })
  }
}

const bigintAsText = (_key: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)

function lineOf({ figure, asked, measured, reached, peer, ratio }: FigureRow): string {
  const verdict = reached === null ? 'counted' : reached ? 'reached' : 'NOT REACHED'
  const beside = peer === undefined ? '' : `; ${ratio} x ${peer}`
  return `${verdict.padEnd(11)}  ${figure}: ${measured}${asked === null ? '' : ` (asked: ${asked})`}${beside}`
}

/** A figure that is only counted. */
export const counted = (
  figure: string,
  measured: string,
  beside: Pick<FigureRow, 'peer' | 'ratio'> = {},
): FigureRow => ({
  figure,
  asked: null,
  measured,
  reached: null,
  ...beside,
})
