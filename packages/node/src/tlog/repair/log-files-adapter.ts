import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** One file of a log, by its path below the address or folder that the operator named. */
export type ReadLogFile = (path: string) => Promise<Buffer>

const fileBytesMax = 256 * 65_537

export const readFrom = (place: string): ReadLogFile =>
  /^https?:\/\//.test(place) ? overHttp(place) : (path) => readFile(join(place, path))

function overHttp(url: string): ReadLogFile {
  const base = url.endsWith('/') ? url : `${url}/`
  return async (path) => {
    const response = await fetch(new URL(path, base), { redirect: 'error', signal: AbortSignal.timeout(20_000) })
    if (!response.ok) throw new Error(`${base}${path} answered ${response.status}`)
    const bytes = Buffer.from(await response.arrayBuffer())
    if (bytes.length > fileBytesMax) throw new Error(`${base}${path} is too large`)
    return bytes
  }
}
