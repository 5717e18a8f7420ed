import { type Address, checksumAddress } from '@assay/protocol/address'
import { parseTilePath, type TilePath } from '@assay/protocol/log/tile-path'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import type { Database, Sql } from '@assay/till/store/database'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import type { WitnessPeer } from '../../tlog/collect-cosignatures.ts'
import type { LogGuard } from '../../tlog/guard.ts'
import { logPath } from '../../tlog/log-path.ts'
import type { TransparencyLog } from '../../tlog/open-log.ts'
import { newestCheckpoint, readEntries, readTiles, recentPeerKeys } from '../../tlog/store.ts'
import { hashBytes, tileKey, tileWidth, widthAt } from '../../tlog/tiles.ts'

const tileLagMsMax = 10_000

export type LogRouteDeps = {
  database: Database
  tree: TransparencyLog
  guard: Pick<LogGuard, 'stop'>
  witnesses: readonly WitnessPeer[]
  apiUrl: string
}

const binary = 'application/octet-stream'

export function logRoutes(deps: LogRouteDeps): RouteDeclaration[] {
  return [describeRoute(deps), checkpointRoute(deps), consistencyRoute(deps), ...tileRoutes(deps)]
}

function describeRoute(deps: LogRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'log.describe',
    capability: 'citations.log.describe',
    area: 'C',
    method: 'GET',
    path: logPath,
    summary:
      'The transparency log: its files, keys and what they were said to be, witnesses, and whether it is stopped',
    description:
      'An append-only log in the C2SP tlog-tiles format. Signed records of what the node sells and its keys are in it. Everything needed to check it offline is a static file.',
    output: z.object({
      origin: z.string(),
      prefix: z.string(),
      size: z.string(),
      state: z.enum(['open', 'stopped']),
      stopped: z.object({ reason: z.string(), detail: z.string(), since: z.string().nullable() }).nullable(),
      keys: z.array(z.string()),
      key_statements: z.array(z.record(z.string(), z.unknown())),
      witnesses: z.array(z.string()),
      anchors: z.array(
        z.object({
          network: z.string(),
          size: z.string(),
          contract: z.string(),
          transaction: z.string().nullable(),
          anchored_at: z.string().nullable(),
        }),
      ),
      predecessors: z.array(
        z.object({ origin: z.string(), last_head: z.string().nullable(), replaced_at: z.string() }),
      ),
    }),
    example: {
      output: {
        origin: 'api.example.org/v1/log',
        prefix: 'https://api.example.org/v1/log',
        size: '70000',
        state: 'open',
        stopped: null,
        keys: ['api.example.org/v1/log+9c4f1e0a+AQ…'],
        key_statements: [],
        witnesses: ['witness.example/w1+1f2e3d4c+BA…'],
        anchors: [],
        predecessors: [],
      },
    },
    next: `${logPath}/checkpoint`,
    access: {
      kind: 'free',
      handle: async () => jsonAnswer(await describeLog(deps)),
    },
  })
}

async function describeLog({ database, tree, guard, witnesses, apiUrl }: LogRouteDeps) {
  const newest = await newestCheckpoint(database)
  const { rows } = await database.query<{
    network: string
    size: bigint
    contract: Address
    transaction: string | null
    anchored_at: Date | null
  }>('select network, size, contract, transaction, anchored_at from log_anchor order by size desc limit 10')
  const stopped = await guard.stop()
  const before = await database.query<{ origin: string; last_head: string | null; replaced_at: Date }>(
    'select origin, last_head, replaced_at from log_predecessor order by replaced_at',
  )
  return {
    origin: tree.origin,
    prefix: `${apiUrl}${logPath}`,
    size: String(newest?.size ?? 0),
    state: stopped ? 'stopped' : 'open',
    stopped: stopped ? { ...stopped, since: stopped.since && toRfc3339(stopped.since.getTime()) } : null,
    keys: tree.keys(),
    key_statements: tree.keyStatements(),
    witnesses: [...new Set([...witnesses.map(({ key }) => key.vkey), ...(await recentPeerKeys(database))])],
    anchors: rows.map((row) => ({
      ...row,
      contract: checksumAddress(row.contract),
      size: String(row.size),
      anchored_at: row.anchored_at && toRfc3339(row.anchored_at.getTime()),
    })),
    predecessors: before.rows.map((row) => ({ ...row, replaced_at: toRfc3339(row.replaced_at.getTime()) })),
  }
}

function checkpointRoute({ tree }: LogRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'log.checkpoint',
    capability: 'citations.log.checkpoint',
    area: 'C',
    method: 'GET',
    path: `${logPath}/checkpoint`,
    summary: 'The newest signed tree head, with the signatures of the witnesses',
    representations: ['text/plain'],
    output: z.string(),
    example: { output: 'api.example.org/v1/log\n70000\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n' },
    next: logPath,
    cacheSeconds: 1,
    access: {
      kind: 'free',
      handle: async () => {
        const note = await tree.checkpoint()
        if (note === undefined) throw new Problem('not_found', { detail: 'The log is empty.' })
        return {
          status: 200,
          contentType: 'text/plain; charset=utf-8',
          body: note,
        }
      },
    },
  })
}

const sizeText = z.string().regex(/^(?:0|[1-9][0-9]{0,14})$/, 'must be a size')

function consistencyRoute({ database, tree }: LogRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'log.consistency',
    capability: 'citations.log.consistency',
    area: 'C',
    method: 'GET',
    path: `${logPath}/consistency`,
    summary: 'Proof that a later tree begins with an earlier one',
    query: z.strictObject({ from: sizeText, to: sizeText }),
    output: z.object({ from: z.string(), to: z.string(), proof: z.array(z.string()) }),
    example: {
      query: { from: '1', to: '2' },
      output: { from: '1', to: '2', proof: ['bjQLnP+zepicpUTme3gKLHiQHT+zNzh2hRGjBhevoB0='] },
    },
    next: `${logPath}/checkpoint`,
    cost: 2,
    access: {
      kind: 'free',
      handle: async ({ query }) => {
        const [from, to] = [Number(query.from), Number(query.to)]
        const size = (await newestCheckpoint(database))?.size ?? 0
        if (from > to || to > size)
          throw new Problem('input_invalid', { detail: `0 <= from <= to <= ${size}, the size of the log.` })
        const proof = await tree.consistency(from, to)
        return jsonAnswer({ from: query.from, to: query.to, proof: proof.map((hash) => hash.toString('base64')) })
      },
    },
  })
}

const names = ['a', 'b', 'c', 'd', 'e'] as const

/** One declaration for each depth that a path can have: groups of three digits, and the width of a partial tile. */
function tileRoutes(deps: LogRouteDeps): RouteDeclaration[] {
  return names.map((_, index) => {
    const used = names.slice(0, index + 1)
    const segment = z.string().max(8)
    return defineRoute({
      id: `log.tile${index + 1}`,
      capability: `citations.log.tile${index + 1}`,
      area: 'C',
      method: 'GET',
      path: `${logPath}/tile/:level/${used.map((name) => `:${name}`).join('/')}`,
      summary: 'Hashes or entries of the log, 256 at a time',
      params: z.strictObject({ level: segment, ...Object.fromEntries(used.map((name) => [name, segment])) }),
      representations: [binary],
      output: z.string(),
      example: { params: { level: '0', ...Object.fromEntries(used.map((name) => [name, '000'])) }, output: '' },
      next: `${logPath}/checkpoint`,
      hidden: index > 0,
      immutable: true,
      access: {
        kind: 'free',
        handle: async ({ params }) => {
          const path = parseTilePath(
            params.level,
            used.map((name) => params[name]),
          )
          // A tile that is there never changes; a replica may only not have it yet.
          const replica = deps.database.within?.(tileLagMsMax)
          const body = path && ((replica && (await readTile(replica, path))) ?? (await readTile(deps.database, path)))
          if (!body) throw new Problem('not_found', { detail: 'There is no such tile in this log.' })
          return { status: 200, contentType: binary, body }
        },
      },
    })
  })
}

async function readTile(sql: Sql, { level, tile, width }: TilePath): Promise<Buffer | undefined> {
  const size = (await newestCheckpoint(sql))?.size ?? 0
  if (widthAt({ level: level === 'entries' ? 0 : level, tile }, size) < width) return undefined
  if (level !== 'entries')
    return (await readTiles(sql, [{ level, tile }])).get(tileKey({ level, tile }))?.subarray(0, width * hashBytes)
  const entries = await readEntries(sql, tile * tileWidth, width)
  return Buffer.concat(
    entries.flatMap((entry) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(entry.length)
      return [length, entry]
    }),
  )
}
