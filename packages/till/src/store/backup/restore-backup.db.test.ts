import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { silentLog } from '../../kernel/log.ts'
import { systemRng } from '../../kernel/random.ts'
import type { Database } from '../database.ts'
import { detectRestore, readServer } from '../detect-restore.ts'
import { choosePlace } from '../embedded/place.ts'
import { ensureInstance } from '../instance.ts'
import { openStore } from '../open-store.ts'
import { isRestoring } from '../restore.ts'
import { scratchFolder } from '../testing.ts'
import { restoreBackup } from './restore-backup.ts'
import { takeBackup } from './take-backup.ts'

const network = 'eip155:8453'
const ports = { clock: systemClock, log: silentLog, rng: systemRng }
const detect = (database: Database, home: string) =>
  detectRestore({
    database,
    home,
    clock: systemClock,
    log: silentLog,
    metrics: { count: () => {}, gauge: () => {}, observeMs: () => {} },
    heads: async () => new Map([[network, 7n]]),
  })

test('a restored backup is on its own timeline, so the node notices it', async () => {
  const folder = await mkdtemp(join(await scratchFolder(), 'assay-restore-'))
  // The account that runs the server for root must be able to pass through.
  await chmod(folder, 0o711)
  const [home, backup, restoredHome] = ['home', 'backup', 'restored'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  try {
    const first = await openStore({ home, ...ports })
    const place = await choosePlace(home, systemRng)
    await ensureInstance(first.database, { mode: 'demo', chains: [], assets: {}, payees: {}, keyId: 'key' })
    expect(await detect(first.database, home)).toBeUndefined()
    const before = await readServer(first.database)
    await takeBackup({ url: first.databaseUrl }, backup, new Date(0).toISOString())
    await first.stop()
    await restoreBackup({
      backup,
      home: restoredHome,
      credentialsFile: join(place.folder, 'credentials.json'),
      rng: systemRng,
    })
    const second = await openStore({ home: restoredHome, ...ports })
    try {
      const after = await readServer(second.database)
      expect(after.systemIdentifier).toBe(before.systemIdentifier)
      expect(after.timeline).not.toBe(before.timeline)
      expect(await detect(second.database, restoredHome)).toContain('timeline')
      expect(await isRestoring(second.database, network)).toBe(true)
    } finally {
      await second.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, 120_000)
