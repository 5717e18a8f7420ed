import { setTimeout as sleep } from 'node:timers/promises'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { channelContract } from '../../packages/protocol/src/typed-data/channel.ts'
import { faultsInBooks } from '../harness/books.ts'
import { channelBuyer, channelCall, channelOf, channelTerms } from '../harness/channel-client.ts'
import { createFaultPoints } from '../harness/fault-points.ts'
import { sendTransaction } from '../harness/send-transaction.ts'
import { quote, type TillFixture } from '../harness/till-fixture.ts'
import { tokenBalance } from '../harness/token-balance.ts'
import { createDice, createFaults, createProgress, type Dice, type Faults, type Proof, plain } from './proof.ts'
import { openProofNode, proofPath, proofPriceMicro } from './proof-node.ts'

const clients = 3
const fundedMicro = 10_000_000n
/** A call by voucher makes few port calls. */
const callsPerFault = 40
const patienceMs = 240_000
/** As many calls of one client at once, on one channel. */
const sides = [2, 8, 32]

type Client = ReturnType<typeof channelBuyer> & {
  account: PrivateKeyAccount
  /** Calls that were answered. */
  calls: number
}
type Tally = { answered: number; lost: number; losing: boolean; statuses: Map<string, number> }

/**
 * Payment channels lose nothing: unmodified clients of @x402/evm make calls one after the other through one deposit each, at
 * a node whose port calls fail at random, over a network that loses requests and answers; then side by side. Each is
 * refunded the half of what is left and withdraws the other. `count` is calls of each client.
 */
export const proveChannels: Proof = async ({ count, say }) => {
  const points = createFaultPoints()
  const dice = createDice(Date.now() % 1_000_000)
  const faults = createFaults()
  const { till, shops } = await openProofNode({ ownShops: 'till' })
  const tally: Tally = { answered: 0, lost: 0, losing: true, statuses: new Map() }
  let struck = 0
  try {
    const faulty = await till.startAnother({
      ...{ intercept: points.intercept, shops, jobs: false, env: { BASE_URL: till.node.url } },
    })
    const accounts = await Promise.all(Array.from({ length: clients }, () => till.newBuyer(fundedMicro)))
    const progress = createProgress(say, clients * count, 'calls')
    points.injectFaults(() => {
      if (dice.below(callsPerFault) > 0) return undefined
      struck += 1
      return dice.below(2) === 0 ? 'before' : 'after'
    })
    const buyers = await Promise.all(
      accounts.map(async (account): Promise<Client> => {
        const client = channelBuyer(till.base, account, lossyFetch(dice, tally))
        for (let call = 0; call < count; call += 1) {
          await callUntilAnswered(client.fetch, `${faulty.address}${proofPath}?of=${call}`, { tally, faults })
          progress(tally.answered)
        }
        return { ...client, account, calls: count }
      }),
    )
    points.injectFaults(undefined)
    tally.losing = false
    const [first] = buyers as [Client]
    const together: string[] = []
    for (const side of sides) {
      const served = await callTogether(first.fetch, faulty.address, side)
      first.calls += served
      together.push(`${served} of ${side}`)
    }
    const transactions = await checkClients(till, buyers, faults)
    for (const fault of await faultsInBooks(till.db.owner)) faults.note(fault)
    if (struck < count / 10) faults.note(`only ${struck} faults struck: this run shows little`)
    const statuses = [...tally.statuses].sort().map(([status, n]) => `${plain(n)} x ${status}`)
    return {
      seen: `${plain(tally.answered)} of ${plain(clients * count)} calls of ${clients} stock clients answered and charged once through ${plain(struck)} faults and ${plain(tally.lost)} lost messages (${statuses.join(', ')}); sent side by side on one channel: ${together.join(', ')} answered; ${transactions}; ${faults.count()} wrong`,
      faults: faults.all(),
    }
  } finally {
    points.injectFaults(undefined)
    await till.close()
  }
}

/** Loses one paid message in thirty, on its way there or back. */
const lossyFetch =
  (dice: Dice, tally: Tally): typeof fetch =>
  async (input, init) => {
    const paid = new Headers((input as Request).headers ?? init?.headers).has('payment-signature')
    const lost = paid && tally.losing ? dice.below(30) : undefined
    if (lost === 0 || lost === 1) tally.lost += 1
    if (lost === 0) throw new TypeError('the request was lost')
    const answer = await fetch(input as string, init)
    if (lost === 1) {
      await answer.arrayBuffer()
      throw new TypeError('the answer was lost')
    }
    return answer
  }

type Calling = { tally: Tally; faults: Faults }

async function callUntilAnswered(fetchPaid: typeof fetch, url: string, { tally, faults }: Calling): Promise<void> {
  const seen: string[] = []
  for (
    const giveUpAt = Date.now() + patienceMs;
    Date.now() < giveUpAt;
    await sleep(Math.min(1_000, 50 * seen.length))
  ) {
    const answer = await fetchPaid(url).catch((error: Error) => error)
    const status = answer instanceof Error ? 'broken off' : String(answer.status)
    const text = answer instanceof Error ? answer.message : await answer.text().catch(() => '')
    tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
    seen.push(`${status} ${text.slice(0, 120)}`)
    if (status === '200') {
      tally.answered += 1
      return
    }
  }
  faults.note(`${url}: never answered: ${seen.slice(-10).join(', ')}`)
}

/** Calls of one client at once: all of them sign from the same base, and a stock client lets itself be corrected once. */
async function callTogether(fetchPaid: typeof fetch, node: string, side: number): Promise<number> {
  const url = (call: number) => `${node}${proofPath}?of=${call}of${side}`
  const answers = await Promise.all(Array.from({ length: side }, (_, call) => fetchPaid(url(call))))
  return answers.filter(({ status }) => status === 200).length
}

/** Each client paid one deposit, was charged once for each call, and has the rest back: refunded in part, then withdrawn. */
async function checkClients(till: TillFixture, buyers: readonly Client[], faults: Faults): Promise<string> {
  const url = `${till.node.url}${proofPath}`
  const terms = channelTerms(await quote(url))
  const spent = async ({ account }: Client) => fundedMicro - (await tokenBalance(till.base, account.address))
  const withdraw = ({ account }: Client, step: 'initiateWithdraw' | 'finalizeWithdraw', ...amount: bigint[]) =>
    sendTransaction(till.base, account, {
      to: channelContract,
      data: channelCall(step, [channelOf(account, terms).config, ...amount]),
    })
  for (const buyer of buyers) {
    const payer = buyer.account.address.toLowerCase() as Address
    const charged = BigInt(buyer.calls) * proofPriceMicro
    const { rows } = await till.db.owner.query<{ sales: bigint; micro: bigint; balance: bigint }>(
      `select count(*) as sales, coalesce(sum(s.charge_micro), 0)::bigint as micro, min(c.balance_micro) as balance
       from channel c join channel_sale s on s.network = c.network and s.channel_id = c.id where c.payer = $1`,
      [payer],
    )
    const [row] = rows
    if (row?.sales !== BigInt(buyer.calls) || row.micro !== charged)
      faults.note(`${payer}: ${row?.sales} sales for ${row?.micro} instead of ${buyer.calls} for ${charged}`)
    const deposited = await spent(buyer)
    if (deposited !== row?.balance || deposited !== 2_000n * proofPriceMicro)
      faults.note(`${payer}: deposited ${deposited}, the node knows ${row?.balance}`)
    const half = (deposited - charged) / 2n
    await buyer.scheme
      .refund(url, { amount: half.toString() })
      .catch((error: unknown) => faults.note(`${payer}: not refunded: ${error}`))
    if ((await spent(buyer)) !== deposited - half) faults.note(`${payer}: spent ${await spent(buyer)} after the refund`)
    await till.base.control.fund(payer, { microUsdc: 0n })
    await withdraw(buyer, 'initiateWithdraw', deposited - half - charged)
  }
  till.base.control.advanceTime(terms.extra.withdrawDelay)
  for (const buyer of buyers) {
    await withdraw(buyer, 'finalizeWithdraw')
    const charged = BigInt(buyer.calls) * proofPriceMicro
    if ((await spent(buyer)) !== charged)
      faults.note(`${buyer.account.address}: paid ${await spent(buyer)} for what costs ${charged}`)
  }
  await untilPosted(till, faults)
  const { rows } = await till.db.owner.query<{ purpose: string; n: bigint }>(
    `select purpose, count(*) as n from settlement_transaction where purpose like 'channels.%' group by purpose order by purpose`,
  )
  return rows.map(({ purpose, n }) => `${n} ${purpose}`).join(', ')
}

async function untilPosted({ db, base }: TillFixture, faults: Faults): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const { rows } = await db.owner.query<{ open: bigint }>(
      `select coalesce(sum(charged_micro - posted_micro), 0)::bigint as open from channel`,
    )
    if (rows[0]?.open === 0n) return
    await base.control.mine(1)
    await sleep(200)
  }
  faults.note('after a minute of peace not everything that was claimed is posted')
}
