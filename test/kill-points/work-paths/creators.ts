import { readCreatorBooks } from '../../../packages/node/src/shops/attestations/creators/check-books.ts'
import { Broken, requireExactly } from '../broken.ts'
import type { Desk } from '../desk.ts'
import type { WorkPath } from '../die-at-work.ts'
import { balanceOn, countOf, creditOf, json, network, rowOf, siteName } from './support.ts'

const shareMicro = 4_500n

/** Which names were cited already, by desk: each life takes the next one. */
const taken = new WeakMap<Desk, number>()

async function cite(desk: Desk): Promise<{ host: string; payer: string }> {
  const index = taken.get(desk) ?? 0
  taken.set(desk, index + 1)
  const host = siteName(index)
  const buyer = await desk.till.newBuyer(10_000_000n)
  await desk.paid(buyer, '/v1/cite/attest', json({ source_url: `http://${host}/page`, agent_wallet: buyer.address }))
  return { host, payer: buyer.address.toLowerCase() }
}

/** Proven so long ago that nobody can contest it any more. */
async function prove({ till }: Desk, host: string, wallet: string): Promise<void> {
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

async function requireAgreeingBooks({ till }: Desk): Promise<void> {
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
  house: 'shops',
  jobs: ['citations.funding', 'citations.creators'],
  owe: async (desk) => {
    const { address } = await desk.till.newBuyer(0n)
    const wallet = address.toLowerCase()
    const { host, payer } = await cite(desk)
    await prove(desk, host, wallet)
    await desk.untilFinal(payer)
    return {
      done: async () =>
        (await countOf(desk, `creator_balance where wallet = $1 and claimed_micro >= $2`, [wallet, shareMicro])) > 0,
      judge: async () => {
        requireExactly("the creator's wallet", await balanceOn(desk, wallet), shareMicro)
        await requireAgreeingBooks(desk)
      },
    }
  },
}

/** Nobody proved the page in time: the share is the payer's credit. */
const expired: WorkPath = {
  name: "unclaimed creator's share",
  house: 'shops',
  jobs: ['citations.creators'],
  owe: async (desk) => {
    const { payer } = await cite(desk)
    await desk.untilFinal(payer)
    await desk.till.db.owner.query(
      `update creator_accrual set created_at = now() - interval '999 days' where payer = $1`,
      [payer],
    )
    return {
      done: async () => (await creditOf(desk, payer)) > 0n,
      judge: async () => {
        requireExactly('credit', await creditOf(desk, payer), shareMicro)
        await requireAgreeingBooks(desk)
      },
    }
  },
}

/** No money of others, but gas: the head of the log goes on chain. */
const anchor: WorkPath = {
  name: 'anchoring',
  house: 'shops',
  jobs: ['log.anchor'],
  owe: async (desk) => {
    await cite(desk)
    await desk.run('log.integrate')
    const size = (await rowOf<{ size: bigint }>(desk, 'select max(size) as size from log_checkpoint', []))?.size
    if (!size) throw new Error('the log has no head')
    const sent = () =>
      countOf(desk, `settlement_transaction where purpose = 'log_anchor' and reference_ids @> array[$1]`, [
        `log_anchor:${size}`,
      ])
    return {
      done: async () => (await countOf(desk, `log_anchor where size = $1 and state = 'anchored'`, [size])) > 0,
      judge: async () => {
        const transactions = await sent()
        if (transactions !== 1) throw new Broken('doubled', `${transactions} transactions for one head`)
      },
    }
  },
}

export const creatorPaths: readonly WorkPath[] = [creator, expired, anchor]
