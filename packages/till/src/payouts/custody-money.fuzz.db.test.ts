import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accounts, addPayToPart, chainAccount, type LedgerLine, post, sealBooks } from '../ledger/index.ts'
import { rowsRead } from '../store/rows-read.fixture.ts'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { readCustodyFacts, spareMicro } from './custody-money.ts'

const db = await useTestDatabase()
await db.owner.query(`insert into ledger_purpose (purpose, backed_by, paid_out) values ('affiliate', 'operator', true),
  ('affiliate_pending', 'operator', false), ('creator_committed', 'contract', false) on conflict do nothing`)

const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as const
const custody = wallet(999)
const finalBlock = 10n

const kinds = [
  'stake',
  'credit',
  'credit at PAY_TO',
  'bond',
  'sale with a share',
  'sale that is not final',
  'share in a contract',
  'affiliate',
  'pending affiliate',
  'collateral',
  'in review',
  'in review at PAY_TO',
  'in a restore gap',
  'in clearing',
  'not posted',
  'missing',
  'queued payout',
  'signed payout',
  'mined payout',
  'payout in a later block',
  'queued refund',
  'seal',
] as const
type Command = { kind: (typeof kinds)[number]; owner: number; micro: bigint }

/** Kept by hand beside the books: who could ask for money of the custody wallet. */
type Model = {
  chain: bigint
  posted: bigint
  others: bigint
  debts: bigint
  queued: bigint
  signed: bigint
  mined: bigint
}

let round = 0
let step = 0

function scene() {
  round += 1
  const network = `eip155:${100_000 + round}`
  const model: Model = { chain: 0n, posted: 0n, others: 0n, debts: 0n, queued: 0n, signed: 0n, mined: 0n }
  const at = accounts.onchain(network, 'custody')
  const write = async (from: LedgerLine['account'], to: LedgerLine['account'], micro: bigint) => {
    step += 1
    const lines = [
      { account: from, amount: micro },
      { account: to, amount: -micro },
    ]
    await post(db.owner, [{ reference: `step ${step}`, kind: 'opening', lines }])
    return lines
  }
  const arrive = async (to: LedgerLine['account'], micro: bigint) => {
    await write(at, to, micro)
    model.posted += micro
    model.chain += micro
  }
  const payout = async (state: string, purpose: string, micro: bigint, block: bigint | null) => {
    step += 1
    await write(accounts.operator(network, 'usdc'), accounts.clearingPayouts(network), micro)
    const signed = state === 'signed'
    await db.owner.query(
      `insert into payout (id, network, payee, amount_micro, purpose, account, n, state, created_at, block_number, nonce, signature, valid_before)
       values ($1, $2, $3, $4, $5, $1, 0, $6, now(), $7, $8, $8, $9)`,
      [`po ${step}`, network, wallet(1), micro, purpose, state, block, signed ? nonce() : null, signed ? 1 : null],
    )
  }
  return { network, model, at, write, arrive, payout }
}

const nonce = () => Buffer.from(step.toString(16).padStart(64, '0'), 'hex')

async function play({ network, model, at, write, arrive, payout }: ReturnType<typeof scene>, command: Command) {
  const { kind, owner, micro } = command
  const who = wallet(owner)
  const own = accounts.operator(network, 'usdc')
  if (kind === 'seal') await sealBooks(db.owner)
  if (kind === 'stake') await arrive(own, micro)
  if (kind === 'credit') await arrive(accounts.credit(network, who), micro)
  if (kind === 'bond') await arrive(accounts.creditBonded(network, who), micro)
  if (kind === 'in review') await arrive(accounts.unmatched(network, 'custody'), micro)
  if (kind === 'in a restore gap') await arrive(accounts.restoreGap(network, 'custody'), micro)
  if (kind === 'in clearing') await arrive(accounts.clearingPayments(network), micro)
  if (['credit', 'bond', 'in review', 'in a restore gap', 'in clearing'].includes(kind)) model.others += micro
  if (kind === 'in review at PAY_TO')
    await write(accounts.onchain(network, 'pay_to'), accounts.unmatched(network, 'pay_to'), micro)
  if (kind === 'credit at PAY_TO') {
    const account = accounts.credit(network, who)
    const lines = await write(accounts.onchain(network, 'pay_to'), account, micro)
    await db.owner.transaction((tx) => addPayToPart(tx, account, lines))
    model.debts += micro
  }
  if (kind === 'sale with a share') {
    await arrive(accounts.revenue(network, 'attest'), micro)
    await arrive(accounts.payable(network, who, 'creator'), 9n * micro)
    model.others += 9n * micro
  }
  if (kind === 'sale that is not final') {
    step += 1
    await db.owner.query(
      `insert into transfer (network, asset, transaction, position, sender, recipient, amount_micro, block_number, block_hash, posted_as)
       values ($1, $6, sha256($2::text::bytea), 0, $3, $4, $5, 11, '', 'sale')`,
      [network, `tx ${step}`, who, custody, micro, `${network}/erc20:${who}`],
    )
    await write(at, accounts.payable(network, who, 'creator'), micro)
    model.others += micro
  }
  if (kind === 'share in a contract')
    await write(
      chainAccount('asset', false, network, 'onchain:distributor'),
      accounts.payable(network, who, 'creator_committed'),
      micro,
    )
  if (kind === 'affiliate' || kind === 'pending affiliate') {
    const purpose = kind === 'affiliate' ? 'affiliate' : 'affiliate_pending'
    await write(own, accounts.payable(network, who, purpose), micro)
    model.debts += micro
  }
  if (kind === 'collateral') {
    await write(own, chainAccount('liability', true, network, 'option_collateral:c1'), micro)
    model.others += micro
  }
  if (kind === 'not posted') model.chain += micro
  if (kind === 'missing') model.chain -= micro
  if (kind === 'queued payout') await payout('queued', 'creator', micro, null)
  if (kind === 'queued refund') await payout('waiting', 'refund', micro, null)
  if (kind === 'queued payout' || kind === 'queued refund') model.queued += micro
  if (kind === 'signed payout') await payout('signed', 'creator', micro, null)
  if (kind === 'payout in a later block') await payout('signed', 'creator', micro, finalBlock + 1n)
  if (kind === 'signed payout' || kind === 'payout in a later block') model.signed += micro
  if (kind === 'mined payout') {
    await payout('signed', 'refund', micro, finalBlock)
    model.mined += micro
    model.chain -= micro
  }
}

const anyCommand: fc.Arbitrary<Command> = fc.record({
  kind: fc.constantFrom(...kinds),
  owner: fc.nat({ max: 4 }),
  micro: fc.bigInt({ min: 1n, max: 1_000_000n }),
})

test('what can be withdrawn is nobody else’s, whatever the books and the chain say', async () => {
  let taken = 0
  await fc.assert(
    fc.asyncProperty(fc.array(anyCommand, { maxLength: 16 }), fc.bigInt(0n, 20_000_000n), async (commands, stake) => {
      const world = scene()
      const { model, network } = world
      if (stake > 0n) await play(world, { kind: 'stake', owner: 0, micro: stake })
      for (const command of commands) await play(world, command)
      const balance = { network, custody, block: finalBlock, micro: model.chain }
      const spare = spareMicro(await readCustodyFacts(db.database, balance, 0n))
      if (spare <= 0n) return
      taken += 1
      const everybody = model.others + model.debts + model.queued
      // On chain, when all that is signed has left and the operator has taken its part.
      expect(model.chain - model.signed - spare).toBeGreaterThanOrEqual(everybody)
      // In the books alike: what nothing explains is not the operator's.
      expect(model.posted - model.signed - model.mined - spare).toBeGreaterThanOrEqual(everybody)
      // And no less than that.
      const both = [model.chain - model.signed, model.posted - model.signed - model.mined]
      expect(both.map((micro) => micro - spare)).toContain(everybody)
    }),
    { numRuns: 60 },
  )
  expect(taken).toBeGreaterThan(10)
})

test('custody is read at the same cost however many holders and postings there were', async () => {
  const { network, arrive } = scene()
  const balance = { network, custody, block: finalBlock, micro: 10n ** 12n }
  const read = async () => {
    await sealBooks(db.owner)
    await db.owner.query('analyze')
    return rowsRead(db.database, (database) => readCustodyFacts(database, balance, 0n))
  }
  await arrive(accounts.credit(network, wallet(1)), 5n)
  const few = await read()
  for (let n = 0; n < 200; n += 1) await arrive(accounts.credit(network, wallet(100 + n)), 5n)
  expect(await read()).toBeLessThanOrEqual(few + 10)
})
