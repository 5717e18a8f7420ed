import { createHash, randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { toBase64 } from '@assay/protocol/base64'
import { readLimited } from '@assay/protocol/read-limited'
import type { CommandContext } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { loadNode, type Node } from '../load-node.ts'
import { type Answer, type Place, serve } from '../log/serve.ts'
import { readLogStatements } from './read-log-statements.ts'

export type WitnessRun = {
  name: string
  log: string[]
  trustWallet?: string[]
  home: string
  host: string
  port: number
}

const bodyBytesMax = 64_000

/** Runs until it is stopped. What it has signed is on disk before the signature leaves. */
export async function runWitness({ terminal }: CommandContext, options: WitnessRun): Promise<void> {
  const witness = await openWitness(options)
  const served = await serveWitness(witness, options)
  terminal.say(`key ${witness.key.vkey}`)
  terminal.out(`ready ${served.url}`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await served.close()
}

const plain = (status: number, body: string): Answer => ({ status, contentType: 'text/plain; charset=utf-8', body })

/** C2SP tlog-witness over HTTP: POST /add-checkpoint, and GET /<SHA-256 of the origin>/checkpoint. */
export async function serveWitness(
  witness: { addCheckpoint(body: string): Promise<Answer>; readHead(originHash: string): Promise<string | undefined> },
  place: Place,
): Promise<{ url: string; close(): Promise<void> }> {
  return serve(place, async (request) => {
    const [, originHash] = /^\/([0-9a-f]{64})\/checkpoint$/.exec(request.url ?? '') ?? []
    if (originHash !== undefined && request.method === 'GET') {
      const note = await witness.readHead(originHash)
      return note === undefined ? plain(404, 'no head of this log was cosigned here\n') : plain(200, note)
    }
    if (request.url !== '/add-checkpoint') return plain(404, 'POST /add-checkpoint\n')
    if (request.method !== 'POST') return plain(405, 'POST /add-checkpoint\n')
    const body = await readBody(request)
    return body === undefined ? plain(413, 'too large\n') : witness.addCheckpoint(body)
  })
}

export async function openWitness(options: Omit<WitnessRun, 'host' | 'port'>) {
  const node = await loadNode()
  const { createWitness, parseNoteKey, privateKeyFromSeed, systemClock } = node
  await mkdir(options.home, { recursive: true, mode: 0o700 })
  const keyFile = join(options.home, 'key')
  const kept = await node.readTextIfThere(keyFile)
  const seed = kept ?? randomBytes(32).toString('base64url')
  if (kept === undefined) await node.writeDurably(keyFile, seed, 0o600)
  const logs = new Map<string, NonNullable<ReturnType<typeof parseNoteKey>>[]>()
  for (const vkey of options.log) {
    const key = parseNoteKey(vkey)
    if (!key) throw usageError(`--log: not the key of a log: ${vkey}`)
    logs.set(key.name, [...(logs.get(key.name) ?? []), key])
  }
  const seenFile = join(options.home, 'seen.json')
  const witness = createWitness({
    name: options.name,
    privateKey: privateKeyFromSeed(seed.trim()),
    logs,
    wallets: options.trustWallet ?? [],
    statementsOf: readLogStatements(systemClock),
    clock: systemClock,
    store: fileStore(node, seenFile),
  })
  return { ...witness, readHead: (originHash: string) => readHead(node, seenFile, originHash) }
}

type Seen = Record<string, { size: number; root: string; note?: string }>

async function readHead({ readTextIfThere }: Node, path: string, originHash: string): Promise<string | undefined> {
  const seen = JSON.parse((await readTextIfThere(path)) ?? '{}') as Seen
  const [, found] = Object.entries(seen).find(([origin]) => sha256Hex(origin) === originHash) ?? []
  return found?.note
}

const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex')

/** One change at a time; the new state is on disk, under its own name, before anybody gets an answer. */
function fileStore({ readTextIfThere, writeDurably }: Node, path: string) {
  let last: Promise<unknown> = Promise.resolve()
  type Store = import('@assay/node').WitnessStore
  const change: Store['change'] = (origin, decide) => {
    const mine = last.then(async () => {
      const seen = JSON.parse((await readTextIfThere(path)) ?? '{}') as Seen
      const known = seen[origin]
      const { keep, answer } = decide(
        known && { size: known.size, root: Buffer.from(known.root, 'base64'), note: known.note },
      )
      if (keep)
        await writeDurably(path, JSON.stringify({ ...seen, [origin]: { ...keep, root: toBase64(keep.root) } }), 0o600)
      return answer
    })
    last = mine.catch(() => {})
    return mine
  }
  return { change }
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const bytes = await readLimited(request, bodyBytesMax)
  return bytes === 'too_large' ? undefined : Buffer.from(bytes).toString('utf8')
}
