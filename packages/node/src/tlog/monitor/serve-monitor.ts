import { parseTilePath } from '@assay/protocol/log/tile-path'
import { hashBytes, tileWidth } from '../tiles.ts'
import { originHash } from '../witness-store.ts'
import { cutEntryBundle } from './entry-bundle.ts'
import type { FolderStore } from './folder-store.ts'
import { renderStatusPage, statusJson, statusPageHeaders } from './status-page.ts'
import type { LogState } from './types.ts'

export type MonitorPage = {
  status: number
  contentType: string
  body: string | Uint8Array
  headers?: Record<string, string>
}

export type Watched = { state: LogState; store: FolderStore }

const missing: MonitorPage = { status: 404, contentType: 'text/plain; charset=utf-8', body: 'not found\n' }

/**
 * What a monitor answers: the status for people and for scripts, its evidence, the head it verified, and with `mirror` the
 * copies it keeps at C2SP paths. A log is named by the SHA-256 of its origin, as in C2SP tlog-mirror; a single log is
 * also at the top.
 */
export async function serveMonitor(
  path: string,
  watched: readonly Watched[],
  options: { nowMs: number; mirror: boolean },
): Promise<MonitorPage> {
  const states = watched.map(({ state }) => state)
  if (path === '/')
    return {
      status: 200,
      contentType: 'text/html; charset=utf-8',
      body: renderStatusPage(states, options.nowMs),
      headers: statusPageHeaders,
    }
  if (path === '/status.json') return { status: 200, contentType: 'application/json', body: `${statusJson(states)}\n` }
  const [first = '', ...rest] = path.slice(1).split('/')
  if (first === 'forks') return forkPage(watched, rest.join('/'))
  const named = watched.find(({ state }) => state.origin !== null && originHash(state.origin) === first)
  const log = named ?? (watched.length === 1 ? watched[0] : undefined)
  const segments = named ? rest : [first, ...rest]
  if (!log) return missing
  return options.mirror ? mirrorPage(log.store, segments) : headPage(log.state, segments)
}

/** Without a copy to serve, at least the head that was verified: another monitor can compare it. */
function headPage({ head }: LogState, segments: readonly string[]): MonitorPage {
  if (head === null || segments.join('/') !== 'checkpoint') return missing
  return { status: 200, contentType: 'text/plain; charset=utf-8', body: head.note }
}

async function forkPage(watched: readonly Watched[], name: string): Promise<MonitorPage> {
  for (const { store, state } of watched) {
    const body = state.forks.includes(name) ? await store.readFork(name) : undefined
    if (body) return { status: 200, contentType: 'application/json', body }
  }
  return missing
}

async function mirrorPage(store: FolderStore, segments: readonly string[]): Promise<MonitorPage> {
  const [kind, level = '', ...rest] = segments
  if (kind === 'checkpoint' && segments.length === 1) {
    const note = await store.readCheckpoint()
    return note ? { status: 200, contentType: 'text/plain; charset=utf-8', body: note } : missing
  }
  const place = kind === 'tile' ? parseTilePath(level, rest) : undefined
  if (!place) return missing
  const body =
    place.level === 'entries'
      ? cutEntries(await store.readEntries(place.tile), place.width)
      : cutTile(await store.readTile({ level: place.level, tile: place.tile }), place.width)
  if (!body) return missing
  const headers = { 'Cache-Control': 'public, max-age=31536000, immutable' }
  return { status: 200, contentType: 'application/octet-stream', body, headers }
}

const cutTile = (hashes: Buffer | undefined, width: number) =>
  hashes && hashes.length >= width * hashBytes && width <= tileWidth ? hashes.subarray(0, width * hashBytes) : undefined

const cutEntries = (bundle: Buffer | undefined, width: number) => bundle && cutEntryBundle(bundle, width)
