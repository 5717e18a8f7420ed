import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkpointText } from '@assay/protocol/log/checkpoint'
import { noteKey, signatureTypes } from '@assay/protocol/log/signed-note'
import { parseTilePath } from '@assay/protocol/log/tile-path'
import { type Clock, systemClock } from '@assay/till/kernel/clock'
import { onLoopback } from '@assay/till/kernel/on-loopback.fixture'
import { privateKeyFromSeed } from '@assay/till/signing'
import { cosign, signNote } from '../sign-note.ts'
import { growTiles, hashBytes, hashRanges, tileKey, widthAt } from '../tiles.ts'
import { leafHash } from '../tree-hash.ts'
import { checkLog } from './check-log.ts'
import { openFolderStore } from './folder-store.ts'
import { createMonitorHttp } from './http-adapter.ts'
import { defaultMonitorOptions, type MonitorOptions } from './types.ts'

const secretOf = (fill: number) => privateKeyFromSeed(Buffer.alloc(32, fill).toString('base64url'))
export const keyOf = (name: string, type: number, fill: number) => noteKey(name, type, secretOf(fill).x)

export const origin = 'log.example/test'
export const logKey = keyOf(origin, signatureTypes.ed25519, 7)
export const witnessKey = (fill: number) => keyOf(`witness.example/${fill}`, signatureTypes.cosignature, fill)

/** A log in memory, with one history. Two of them with the same key are one log that shows two histories. */
export function memoryLog(given: { origin: string; d: string } = { origin, d: secretOf(7).d }) {
  const secret = privateKeyFromSeed(given.d)
  const key = noteKey(given.origin, signatureTypes.ed25519, secret.x)
  const entries: Buffer[] = []
  const tiles = new Map<string, Buffer>()
  const rootAt = (size: number) => (hashRanges([{ from: 0, until: size }], tiles) as [Buffer])[0]
  const add = (texts: readonly string[]) => {
    const fresh = texts.map((text) => Buffer.from(text))
    for (const tile of growTiles(entries.length, tiles, fresh.map(leafHash))) tiles.set(tileKey(tile), tile.hashes)
    for (const entry of fresh) entries.push(entry)
  }
  const textAt = (size: number, name = given.origin) => checkpointText({ origin: name, size, root: rootAt(size) })
  return {
    add,
    size: () => entries.length,
    rootAt,
    head: (size = entries.length) => signNote(textAt(size), key, secret.privateKey),
    /** The same tree under another key or name. */
    otherHead: (signer: number, name = given.origin) =>
      signNote(textAt(entries.length, name), keyOf(name, signatureTypes.ed25519, signer), secretOf(signer).privateKey),
    /** A head of any size and root, signed all the same. */
    claimed: (size: number) =>
      signNote(checkpointText({ origin, size, root: Buffer.alloc(32, 5) }), logKey, secretOf(7).privateKey),
    cosigned: (witness: number, seconds: number, size = entries.length) =>
      cosign(textAt(size), witnessKey(witness), secretOf(witness).privateKey, seconds),
    file: (path: string): Buffer | undefined => {
      const [kind, level = '', ...rest] = path.split('/').slice(1)
      const place = kind === 'tile' ? parseTilePath(level, rest) : undefined
      if (!place) return undefined
      const { tile, width } = place
      const depth = place.level === 'entries' ? 0 : place.level
      if (widthAt({ level: depth, tile }, entries.length) < width) return undefined
      if (place.level !== 'entries') return tiles.get(tileKey({ level: depth, tile }))?.subarray(0, width * hashBytes)
      return Buffer.concat(
        entries.slice(tile * 256, tile * 256 + width).flatMap((entry) => {
          const length = Buffer.alloc(2)
          length.writeUInt16BE(entry.length)
          return [length, entry]
        }),
      )
    },
  }
}

export type MemoryLog = ReturnType<typeof memoryLog>
export type Answerer = (path: string, response: ServerResponse, request: IncomingMessage) => boolean | undefined

/** Serves a log on loopback. `alter` may answer first; `head` is what /checkpoint returns. */
export async function serveLog(log: MemoryLog, options: { head?: () => string; alter?: Answerer } = {}) {
  const asked: string[] = []
  const served = { log, head: options.head ?? (() => log.head()), alter: options.alter }
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    asked.push(path)
    if (served.alter?.(path, response, request)) return
    const body = path === '/checkpoint' ? served.head() : served.log.file(path)
    if (body === undefined) response.writeHead(404).end()
    else response.writeHead(200).end(body)
  })
  const { url, close } = await onLoopback(server)
  return {
    url,
    asked,
    served,
    close,
  }
}

/** A monitor with its own folder. Opening it again with the same folder is a restart. */
export async function openMonitor(url: string, options: Partial<MonitorOptions> = {}, folder?: string) {
  const home = folder ?? (await mkdtemp(join(tmpdir(), 'assay-monitor-')))
  let aheadMs = 0
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs }
  const store = openFolderStore(home)
  const deps = {
    http: createMonitorHttp('test'),
    clock,
    store,
    options: { ...defaultMonitorOptions, keys: [logKey.vkey], ...options },
  }
  return {
    home,
    store,
    clock,
    look: () => checkLog(deps, url),
    advance: (ms: number) => {
      aheadMs += ms
    },
    close: () => rm(home, { recursive: true, force: true }),
  }
}
