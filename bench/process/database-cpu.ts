import { readdirSync, readFileSync } from 'node:fs'
import { connectClient } from '../../packages/till/src/store/connection.ts'

/** Length of a clock tick in which /proc counts CPU time; fixed on Linux. */
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

/** CPU time of a process and its children, those that ended included. Zero where there is no /proc. */
export function treeCpuMicros(root: number): number {
  const parent = timesOf(String(root))
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(timesOf)
    .filter((times) => times?.parent === root)
  const own = children.reduce((sum, times) => sum + (times?.own ?? 0), parent?.own ?? 0)
  return (own + (parent?.reaped ?? 0)) * tickMicros
}

/**
 * CPU time of all processes of a database server on this machine, so that work moved from the node to the database does
 * not look like work saved. Zero where there is no /proc.
 */
export async function openDatabaseCpu(databaseUrl: string): Promise<{ micros(): number; close(): Promise<void> }> {
  const client = await connectClient({ url: databaseUrl })
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const postmaster = timesOf(String(rows[0]?.pid))?.parent
  const micros = () => (postmaster === undefined ? 0 : treeCpuMicros(postmaster))
  return { micros, close: () => client.end() }
}
