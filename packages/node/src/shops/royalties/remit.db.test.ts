import type { Address } from '@assay/protocol/address'
import type { Sale } from '@assay/till'
import { systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { accounts, post } from '@assay/till/ledger'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test, vi } from 'vitest'
import { creatorAccounts } from '../attestations/accounts.ts'
import { withProof } from '../attestations/index.ts'
import { findParent } from './parents.ts'
import { commitRemittance, prepareRemittance, type RoyaltyDeps } from './remit.ts'
import { insertRemittance } from './store.ts'

const db = await useTestDatabase()

const network = 'eip155:8453'
const payer: Address = `0x${'42'.repeat(20)}`
const attestation = 'att_06gxx4e2sd948sg215f4hwthng'

const remitDeps = () =>
  ({
    database: db.database,
    clock: systemClock,
    ids: { next: (prefix: string) => `${prefix}_06gxx6w1wv63xg71pat54yt9f0` },
    tree: { proofOf: async () => undefined },
    attester: { sign: () => ({ signature: Buffer.alloc(65), attester: { chainId: 8453 } }) },
    apiUrl: 'http://node.test',
    recipient: `0x${'43'.repeat(20)}`,
    bps: 250,
    ownAddresses: new Set(),
    windows: { waitMs: 1, releaseMs: 1 },
  }) as unknown as RoyaltyDeps

test('a parent that is gone by the time the remittance is paid does not undo it', async () => {
  await db.owner.query(
    `insert into attestation (id, kind, payment_id, network, agent, payer, source_url, domain, registrable, signature, attester,
       price_micro, created_at)
     values ($1, 'citation', 'pay_parent', $2, $3, $3, 'http://a.test/', 'a.test', 'a.test', decode(repeat('00', 65), 'hex'), '', 5000, now())`,
    [attestation, network, payer],
  )
  await db.owner.query(`select log_append('citation', $1, '{}')`, [attestation])
  const prepared = await prepareRemittance(remitDeps(), { parent: attestation, sale_price_micro: '1000000' })
  await db.owner.query('delete from attestation where id = $1', [attestation])
  const sale = {
    paymentId: 'pay_remittance',
    routeId: 'royalties.remit',
    network,
    payer,
    amountMicro: 25_000n,
    round: 0,
    source: 'payment',
    transaction: `0x${'11'.repeat(32)}`,
    settledAtMs: 1_800_000_000_000,
    // As it is read back from the database.
    reservation: JSON.parse(JSON.stringify(prepared.reservation)),
  } as unknown as Sale
  const answer = await db.database.transaction(async (tx) => {
    await post(tx, [
      {
        reference: 'sale:pay_remittance',
        kind: 'sale',
        lines: [
          { account: creatorAccounts.distributor(network), amount: 25_000n },
          { account: accounts.clearingPayments(network), amount: -25_000n },
        ],
      },
    ])
    return commitRemittance(remitDeps(), tx, sale)
  })
  expect(JSON.parse(String(answer.body))).toMatchObject({
    royalty_micro: '25000',
    record: { parent: attestation, derived_from: [{ id: attestation, kind: 'attestation' }] },
    payouts: [{ domain: 'a.test', micro: '22500', state: 'waiting' }],
  })
})

test('the released answer carries the leaf of the remittance, and is valid without it', async () => {
  const answer = { status: 200, contentType: 'application/json', body: JSON.stringify({ id: 'roy_1', url: 'u' }) }
  const leaf = { index: 7, witness_keys: ['w'] }
  const clock = { sleep: async () => {} }
  const deps = { clock, log: silentLog, witnessKeys: () => [] }
  // A moment without the database, which is waited out.
  const integrate = vi.fn(async () => {}).mockRejectedValueOnce(new Error('away'))
  const placed = withProof({
    ...deps,
    tree: { integrate, proofOf: async () => leaf, keysOf: () => ['k'], keyStatements: () => [] },
  } as never)
  expect(JSON.parse(String((await placed(answer, '')).body))).toEqual({
    id: 'roy_1',
    url: 'u',
    log: { state: 'logged', ...leaf, keys: ['k'], key_statements: [] },
  })
  const broken = withProof({ ...deps, tree: { integrate: async () => Promise.reject(new Error('away')) } } as never)
  expect(JSON.parse(String((await broken(answer, '')).body))).toEqual({
    id: 'roy_1',
    url: 'u',
    log: { state: 'pending', url: 'u' },
  })
})

test('a line of more remittances than are followed is called that, and not unknown', async () => {
  const ids = Array.from({ length: 33 }, (_, n) => `roy_${n.toString().padStart(26, '0')}`)
  for (const [n, id] of ids.entries())
    await insertRemittance(db.database as never, {
      id,
      paymentId: `pay_line_${n}`,
      parent: ids[n + 1] ?? 'pay_unknown',
      parentKind: 'remittance',
      payer,
      network,
      salePriceMicro: 1n,
      royaltyMicro: 1n,
      record: '{}',
      signed: null,
      createdAt: new Date(),
    })
  await expect(findParent(db.database, ids[0] as string)).rejects.toMatchObject({
    details: { detail: expect.stringContaining('more than 32') },
  })
  await expect(findParent(db.database, ids[32] as string)).rejects.toMatchObject({
    details: { detail: expect.stringContaining('is no attestation') },
  })
})
