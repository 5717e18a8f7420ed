import { readdirSync, readFileSync } from 'node:fs'
import { connectClient } from '../../packages/till/src/store/connection.ts'

/** Of Linux, since ever: clock ticks in a second, as /proc counts them. */
const tickMicros = 10_000

type Times = { parent: number; own: number; reaped: number }

function timesOf(pid: string): Times | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    const at = (index: number) => Number(fields[index])
    return { parent: at(1), own: at(11) + at(12), reaped: at(13) + at(14) }
  } catch {
    return undefined
  }
}

/**
 * CPU time of all processes of a database server on this machine, so that work moved from the node to the database does
 * not look like work saved. Zero where there is no /proc.
 */
export async function openDatabaseCpu(databaseUrl: string): Promise<{ micros(): number; close(): Promise<void> }> {
  const client = await connectClient({ url: databaseUrl })
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const postmaster = timesOf(String(rows[0]?.pid))?.parent
  const micros = () => {
    if (postmaster === undefined) return 0
    const server = timesOf(String(postmaster))
    const children = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(timesOf)
      .filter((times) => times?.parent === postmaster)
    const own = children.reduce((sum, times) => sum + (times?.own ?? 0), server?.own ?? 0)
    return (own + (server?.reaped ?? 0)) * tickMicros
  }
  return { micros, close: () => client.end() }
}
