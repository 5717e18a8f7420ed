import { readCreatorBooks } from '../../../packages/node/src/shops/attestations/creators/check-books.ts'
import { Broken, requireExactly } from '../../harness/broken.ts'
import { postJson } from '../../harness/post-json.ts'
import type { WorkPath } from '../die-at-work.ts'
import type { JobHarness } from '../job-harness.ts'
import { balanceOn, countOf, creditOf, network, rowOf, siteName } from './support.ts'

const shareMicro = 4_500n

/** Which names were cited already, by harness: each life takes the next one. */
const taken = new WeakMap<JobHarness, number>()

async function cite(harness: JobHarness): Promise<{ host: string; payer: string }> {
  const index = taken.get(harness) ?? 0
  taken.set(harness, index + 1)
  const host = siteName(index)
  const buyer = await harness.till.newBuyer(10_000_000n)
  await harness.paid(
    buyer,
    '/v1/cite/attest',
    postJson({ source_url: `http://${host}/page`, agent_wallet: buyer.address }),
  )
  return { host, payer: buyer.address.toLowerCase() }
}

/** Proven so long ago that nobody can contest it any more. */
async function prove({ till }: JobHarness, host: string, wallet: string): Promise<void> {
  await till.db.owner.query(
    `insert into source (domain, registrable, display, origin, state, registered_at, updated_at)
     values ($1, $1, $1, 'http://' || $1, 'proven', now(), now())`,
    [host],
  )
  await till.db.owner.query(
    `insert into source_claim (id, domain, wallet, kind, token, token_expires_at, state, method, proven_at, wallet_proven_at,
       created_at, next_check_at)
     values ('clm_' || $1, $1, $2, 'claim', repeat('a', 43), now(), 'proven', 'file', now() - interval '9 days',
       now() - interval '9 days', now(), now() + interval '9 years')`,
    [host, wallet.toLowerCase()],
  )
  await till.db.owner.query(`update source set proven_claim = 'clm_' || $1 where domain = $1`, [host])
}

async function requireAgreeingBooks({ till }: JobHarness): Promise<void> {
  const books = await readCreatorBooks(till.db.database, network)
  const pairs = [
    ['accrued', books.accruedRows, books.accruedLedger - books.receivableLedger],
    ['waiting', books.waitingRows, books.waitingLedger],
    ['committed', books.committedRows, books.committedLedger],
  ] as const
  for (const [what, rows, ledger] of pairs) requireExactly(`${what} by the books`, ledger, rows)
}

/** A share that waited is released, put into a root, the root on chain, and the creator's part sent to its wallet. */
const creator: WorkPath = {
  name: "creator's share",
  variant: 'shops',
  jobs: ['citations.funding', 'citations.creators'],
  owe: async (harness) => {
    const { address } = await harness.till.newBuyer(0n)
    const wallet = address.toLowerCase()
    const { host, payer } = await cite(harness)
    await prove(harness, host, wallet)
    await harness.untilFinal(payer)
    return {
      done: async () =>
        (await countOf(harness, `creator_balance where wallet = $1 and claimed_micro >= $2`, [wallet, shareMicro])) > 0,
      check: async () => {
        requireExactly("the creator's wallet", await balanceOn(harness, wallet), shareMicro)
        await requireAgreeingBooks(harness)
      },
    }
  },
}

/** Nobody proved the page in time: the share is the payer's credit. */
const expired: WorkPath = {
  name: "unclaimed creator's share",
  variant: 'shops',
  jobs: ['citations.creators'],
  owe: async (harness) => {
    const { payer } = await cite(harness)
    await harness.untilFinal(payer)
    await harness.till.db.owner.query(
      `update creator_accrual set created_at = now() - interval '999 days' where payer = $1`,
      [payer],
    )
    return {
      done: async () => (await creditOf(harness, payer)) > 0n,
      check: async () => {
        requireExactly('credit', await creditOf(harness, payer), shareMicro)
        await requireAgreeingBooks(harness)
      },
    }
  },
}

/** No money of others, but gas: the head of the log goes on chain. */
const anchor: WorkPath = {
  name: 'anchoring',
  variant: 'shops',
  jobs: ['log.anchor'],
  owe: async (harness) => {
    await cite(harness)
    await harness.run('log.integrate')
    const size = (await rowOf<{ size: bigint }>(harness, 'select max(size) as size from log_checkpoint', []))?.size
    if (!size) throw new Error('the log has no head')
    const sent = () =>
      countOf(harness, `settlement_transaction where purpose = 'log_anchor' and reference_ids @> array[$1]`, [
        `log_anchor:${size}`,
      ])
    return {
      done: async () => (await countOf(harness, `log_anchor where size = $1 and state = 'anchored'`, [size])) > 0,
      check: async () => {
        const transactions = await sent()
        if (transactions !== 1) throw new Broken('doubled', `${transactions} transactions for one head`)
      },
    }
  },
}

export const creatorPaths: readonly WorkPath[] = [creator, expired, anchor]
