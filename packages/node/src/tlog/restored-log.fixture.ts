import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseCheckpoint } from '@assay/protocol/log/checkpoint'
import { parseNoteKey } from '@assay/protocol/log/signed-note'
import { tileIndexPath } from '@assay/protocol/log/tile-path'
import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { systemRng } from '@assay/till/kernel/random'
import { createFixedKeyring, generateSigningKey, privateKeyFromSeed } from '@assay/till/signing'
import type { TestDatabase } from '@assay/till/store/testing'
import { compareWithWitnesses } from './compare-with-witnesses.ts'
import { openLog, type TransparencyLog } from './open-log.ts'
import { type HeadSource, witnessSources } from './outside-heads.ts'
import { type LogCopy, leavesOf } from './repair/log-copy.ts'
import { appendToLog, newestCheckpoint, readEntries } from './store.ts'
import { tileWidth } from './tiles.ts'
import { createWitness, type SeenTree, type Witness, type WitnessOptions } from './witness.ts'

export const origin = 'test.example/log'

/** A witness of another operator: what it has seen outlives every database. */
export function createOutsideWitness(
  name: string,
  logKeys: () => readonly string[],
  statementsOf?: WitnessOptions['statementsOf'],
): Witness & { seen(): number; readHead(): Promise<string | undefined> } {
  let seen: SeenTree | undefined
  const witness = createWitness({
    name,
    privateKey: privateKeyFromSeed(generateSigningKey(systemRng).d),
    logs: {
      get: () => {
        const keys = logKeys().flatMap((vkey) => parseNoteKey(vkey) ?? [])
        return keys.length > 0 ? keys : undefined
      },
    },
    clock: systemClock,
    ...(statementsOf === undefined ? {} : { statementsOf }),
    store: {
      change: async (_origin, decide) => {
        const { keep, answer } = decide(seen)
        if (keep) seen = keep
        return answer
      },
    },
  })
  return { ...witness, seen: () => seen?.size ?? 0, readHead: async () => seen?.note }
}

export type LogHarness = Awaited<ReturnType<typeof openLogHarness>>

/** The log of one database with its key and witnesses, as a process would have it. */
export async function openLogHarness(
  db: TestDatabase,
  options: {
    keyring?: ReturnType<typeof createFixedKeyring>
    witnesses?: readonly Witness[]
    more?: HeadSource[]
    /** As a process that has just started, with witnesses to ask. */
    confirmAfter?: Date
  } = {},
) {
  const { database } = db
  const keyring = options.keyring ?? createFixedKeyring(generateSigningKey(systemRng), 0)
  const alarms: string[] = []
  const metrics = {
    count: (name: string, labels?: Record<string, string>) => {
      if (name === 'alarms') alarms.push(String(labels?.['alarm']))
    },
    gauge: () => {},
    observeMs: () => {},
  }
  const tree: TransparencyLog = openLog({
    database,
    clock: systemClock,
    metrics,
    keyring,
    origin,
    confirmAfter: options.confirmAfter,
  })
  await database.query('update log_tree set origin = $1', [origin])
  const deps = { database, log: silentLog, metrics, tree, confirmAfter: options.confirmAfter }
  const witnesses = options.witnesses ?? [createOutsideWitness('witness.example/w', tree.keys)]
  const sources = [...witnessSources(deps, witnesses), ...(options.more ?? [])]
  const size = async () => (await newestCheckpoint(database))?.size ?? 0
  return {
    db,
    keyring,
    tree,
    witnesses,
    alarms,
    deps,
    size,
    compare: () => compareWithWitnesses(deps, sources),
    /** Entries with these subjects, placed if the log lets them. */
    append: async (...subjects: string[]) => {
      await appendToLog(
        database,
        subjects.map((subject) => ({ kind: 'test', subject, entry: Buffer.from(`entry of ${subject}`) })),
      )
      await tree.integrate()
    },
  }
}

/** What a mirror holds, straight from the database that it mirrored. */
export async function copyOf({ tree, db }: Pick<LogHarness, 'tree' | 'db'>): Promise<LogCopy> {
  const note = (await tree.checkpoint()) as string
  const size = parseCheckpoint(note)?.size ?? 0
  const entries = await readEntries(db.database, 0, size)
  const bundle = async (tile: number, width: number) => entries.slice(tile * tileWidth, tile * tileWidth + width)
  const copy: LogCopy = { name: 'mirror', checkpoint: async () => note, entries: bundle, leafHashes: async () => [] }
  const leaves = await leavesOf(copy, 0, size)
  copy.leafHashes = async (tile, width) =>
    Array.from({ length: width }, (_, n) => leaves.get(tile * tileWidth + n)?.hash as Buffer)
  return copy
}

/** Writes the files of a log as C2SP tlog-tiles has them, by reading them over HTTP. */
export async function mirrorLog(url: string, folder: string): Promise<void> {
  const read = async (path: string) => {
    const response = await fetch(`${url}/${path}`)
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    const bytes = Buffer.from(await response.arrayBuffer())
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), bytes)
    return bytes
  }
  const size = parseCheckpoint((await read('checkpoint')).toString('utf8'))?.size ?? 0
  for (let tile = 0; tile * tileWidth < size; tile += 1) {
    const width = Math.min(tileWidth, size - tile * tileWidth)
    for (const kind of ['0', 'entries'])
      await read(`tile/${kind}/${tileIndexPath(tile)}${width === tileWidth ? '' : `.p/${width}`}`)
  }
}
