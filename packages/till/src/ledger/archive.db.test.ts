import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { sampleClaim } from '../gate/claim.fixture.ts'
import { insertClaims } from '../gate/store-claim.ts'
import { sha256 } from '../kernel/bytes.ts'
import { createIds } from '../kernel/ids.ts'
import { systemRng } from '../kernel/random.ts'
import { archivePartitions } from '../store/archive-partitions.ts'
import { verifyAudit } from '../store/audit-log.ts'
import { connectClient } from '../store/connection.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { accounts } from './accounts.ts'
import { post } from './post.ts'
import { balanceDifferences, openClearing, trialBalance } from './read.ts'
import { sealBooks, verifySeals } from './seal.ts'

const db = await useTestDatabase()
const dayMs = 86_400_000
const nowMs = Date.now()
const oldMs = nowMs - 900 * dayMs
const folder = await mkdtemp(join(tmpdir(), 'assay-archive-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const network = 'eip155:8453'
const lines = [
  { account: accounts.revenue(network, 'test.route'), amount: -5_000n },
  { account: accounts.clearingPayments(network), amount: 5_000n },
]
const worker = { owner: 1n, nowMs, leaseMs: 60_000 }
const idAt = (ms: number) => createIds({ nowMs: () => ms }, systemRng).next('pay')
const oldClaim = { ...sampleClaim(1), id: idAt(oldMs) }

const recentId = BigInt(Math.floor((nowMs - 400 * dayMs) / 1_000)) << 31n

const archive = async (into = folder, days = 400) => {
  const client = await connectClient({ url: db.databaseUrl })
  try {
    const parts = await archivePartitions(client, {
      folder: into,
      days,
      now: new Date(nowMs),
      actor: 'test',
      rowsPerFile: 100,
    })
    // Of the periods around it, too.
    return parts.filter(({ rows }) => rows > 0)
  } finally {
    await client.end()
  }
}

/** Postings of that time, in the books as if they had been made then; they wait for their seal. */
async function postAt(ms: number, count: number, name: string): Promise<void> {
  await db.owner.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    const made = `select ($1::bigint << 31) + n as id, $3 || ':' || n as reference from generate_series(1, $2::integer) n`
    const seconds = Math.floor(ms / 1_000)
    await tx.query(
      `insert into ledger_transaction (id, reference, kind, payment_id, created_at)
       select id, reference, 'sale', reference, to_timestamp($1) from (${made}) m`,
      [seconds, count, name],
    )
    await tx.query(
      `insert into ledger_entry (transaction_id, line, account_id, amount_micro)
       select m.id, l.line - 1, (select a.id from ledger_account a where a.name = l.name), l.micro
       from (${made}) m, unnest($4::text[], $5::bigint[]) with ordinality l (name, micro, line)`,
      [seconds, count, name, lines.map(({ account }) => account.name), lines.map(({ amount }) => amount)],
    )
    await tx.query(`insert into ledger_unsealed select id from (${made}) m`, [seconds, count, name])
  })
}

// Each builds on the one before.
test('nothing leaves that can still change or is not sealed', async () => {
  await db.owner.query('select make_partitions($1)', [new Date(oldMs)])
  await post(db.database, [{ reference: 'first', kind: 'opening', lines }])
  await postAt(oldMs, 250, 'old')
  expect(await insertClaims(db.database, [oldClaim], worker)).toEqual([{ status: 'claimed' }])
  expect(await archive()).toEqual([])
  await db.owner.query(`update payment set state = 'served', final = true, ended_at = claimed_at`)
  const [gone] = await archive()
  expect(gone).toMatchObject({ partition: expect.stringMatching(/^payment_[0-9]{8}$/), rows: 1 })
  expect((await db.database.query(`select from ledger_entry where transaction_id < $1`, [recentId])).rowCount).toBe(500)
  await expect(archive(folder, 30)).rejects.toThrow(/at least 400 days/)
})

let full = ''

test('an archive that broke off is finished by the next call', async () => {
  await sealBooks(db.database)
  expect(await verifySeals(db.database, folder)).toBeUndefined()
  const before = await trialBalance(db.database)
  const blocked = join(folder, 'file')
  await writeFile(blocked, '')
  await expect(archive(blocked)).rejects.toThrow()
  await rm(blocked)
  expect(await verifySeals(db.database, folder)).toMatchObject({ reference: expect.stringMatching(/being archived/) })
  // Its rows are counted all the while.
  expect(await trialBalance(db.database)).toEqual(before)
  const parts = await archive()
  full = parts[0]?.partition ?? ''
  expect(parts).toEqual([{ partition: expect.stringMatching(/^ledger_entry_/), rows: 250, files: 3 }])
  expect(await archive()).toEqual([])
})

test('books and seals are verified over files and database together', async () => {
  expect((await db.database.query(`select from ledger_entry where transaction_id < $1`, [recentId])).rowCount).toBe(0)
  expect(await verifySeals(db.database, folder)).toBeUndefined()
  const { rows, sumByUnit } = await trialBalance(db.database)
  expect(sumByUnit).toEqual({ [`${network}/usdc`]: 0n })
  expect(rows.map(({ balanceMicro }) => balanceMicro).sort()).toEqual([-1_255_000n, 1_255_000n])
  expect(await balanceDifferences(db.database)).toEqual([])
  expect(await openClearing(db.database)).toHaveLength(100)
  await expect(trialBalance(db.database, new Date(oldMs))).rejects.toThrow(/archived/)
  expect(await verifyAudit(db.database)).toBeUndefined()
})

test('a payment key is used once though its payment is in a file', async () => {
  const again = { ...oldClaim, id: idAt(nowMs) }
  expect(await insertClaims(db.database, [again], worker)).toEqual([{ status: 'conflict' }])
})

test('what is missing or was changed among the files is found', async () => {
  const broken = async (pattern: RegExp) =>
    expect(await verifySeals(db.database, folder)).toMatchObject({
      ...{ what: 'archive broken', reference: expect.stringMatching(pattern) },
    })
  expect(await verifySeals(db.database)).toMatchObject({ reference: expect.stringMatching(/--archive/) })
  for (const partition of await readdir(folder))
    for (const name of await readdir(join(folder, partition))) {
      const path = join(folder, partition, name)
      const bytes = await readFile(path)
      await rm(path)
      await broken(/missing/)
      const changed = name.endsWith('.gz') ? gzipSync(gunzipSync(bytes).toString().replace('5', '6')) : `${bytes} `
      await writeFile(path, changed)
      await broken(/changed/)
      await writeFile(path, bytes)
    }
  expect(await verifySeals(db.database, folder)).toBeUndefined()
})

test('a file that was changed together with its manifest and its hash breaks the seals', async () => {
  const path = join(folder, full, '000002.jsonl.gz')
  const bytes = gzipSync(
    gunzipSync(await readFile(path))
      .toString()
      .replace('"5000"', '"5001"'),
  )
  const manifestPath = join(folder, full, 'manifest.json')
  const manifest = JSON.parse(await readFile(manifestPath, 'utf8'))
  manifest.files[1].sha256 = sha256(bytes).toString('hex')
  const text = JSON.stringify(manifest)
  await writeFile(path, bytes)
  await writeFile(manifestPath, text)
  await db.owner.query('update archived_partition set manifest_sha256 = $2 where name = $1', [full, sha256(text)])
  expect(await verifySeals(db.database, folder)).toMatchObject({ what: 'transaction changed' })
})
