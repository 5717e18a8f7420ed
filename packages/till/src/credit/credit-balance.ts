import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import { accounts, balanceOf, heldOf, type LedgerLine, lockBalances, owedTo, payToPartOf } from '../ledger/index.ts'
import type { Sql, Tx } from '../store/database.ts'

/** The credit of a wallet on one chain. */
export type CreditBalance = {
  network: string
  /** Can be drawn on. */
  creditMicro: Micro
  /** Set aside for calls under way. */
  heldMicro: Micro
  /** Locked in bonds. */
  bondedMicro: Micro
  /** Paid in, and a reorg could still take it away: it can be drawn on, not moved. */
  notFinalMicro: Micro
  /** Can leave: refunded, or, as far as it is at custody, locked as a bond. */
  movableMicro: Micro
  /** The part of what can leave that arrived at CUSTODY and is there. The rest arrived at PAY_TO. */
  inCustodyMicro: Micro
}

/** Until the transaction ends, nothing else is posted to the wallet's credit on this chain. */
export async function lockCredit(tx: Tx, network: string, wallet: Address): Promise<CreditBalance> {
  await lockBalances(
    tx,
    [accounts.credit, accounts.creditBonded].map((of) => of(network, wallet)),
  )
  return readCredit(tx, network, wallet)
}

export async function readCredit(sql: Sql, network: string, wallet: Address): Promise<CreditBalance> {
  const creditMicro = await owedTo(sql, accounts.credit(network, wallet))
  const notFinalMicro = await notFinal(sql, network, wallet)
  // What a reorg took after it was used is owed to us: it is not paid out a second time.
  const owesMicro = await balanceOf(sql, accounts.receivable(network, wallet, 'credit'))
  const free = creditMicro - notFinalMicro - (owesMicro > 0n ? owesMicro : 0n)
  const movableMicro = free > 0n ? free : 0n
  const atCustody = creditMicro - (await payToPartOf(sql, accounts.credit(network, wallet)))
  return {
    network,
    creditMicro,
    heldMicro: await heldOf(sql, accounts.credit(network, wallet)),
    bondedMicro: await owedTo(sql, accounts.creditBonded(network, wallet)),
    notFinalMicro,
    movableMicro,
    inCustodyMicro: atCustody > 0n ? smallerOf(atCustody, movableMicro) : 0n,
  }
}

/** Balances that keep more or less aside than their open holds do: always empty, or a hold was lost. */
export async function heldDifferences(sql: Sql): Promise<{ name: string; kept: Micro; holds: Micro }[]> {
  const { rows } = await sql.query<{ name: string; kept: bigint; holds: bigint }>(
    `select a.name, b.held_micro as kept, coalesce(h.micro, 0) as holds
     from ledger_balance b join ledger_account a on a.id = b.account_id
     left join (select held_on, sum(amount)::bigint as micro from entitled_call where state = 'held' and held_on is not null
                group by held_on) h on h.held_on = b.account_id
     where b.held_micro <> coalesce(h.micro, 0)`,
  )
  return rows
}

/**
 * Lines that give a wallet credit. What it owes since a reorg took money that it had used is set off first: otherwise a
 * payment that lands again would be used twice.
 */
export async function creditLines(tx: Tx, network: string, wallet: Address, micro: Micro): Promise<LedgerLine[]> {
  const credit = accounts.credit(network, wallet)
  const debt = accounts.receivable(network, wallet, 'credit')
  // A reorg that is being posted in another transaction may leave a debt that is not visible yet.
  await lockBalances(tx, [credit])
  const owesMicro = await balanceOf(tx, debt)
  const setOffMicro = owesMicro > 0n ? smallerOf(owesMicro, micro) : 0n
  return [
    ...(setOffMicro > 0n ? [{ account: debt, amount: -setOffMicro }] : []),
    ...(micro > setOffMicro ? [{ account: credit, amount: setOffMicro - micro }] : []),
  ]
}

/** What a wallet sent between a backup and its restore, which is credited to nobody until a person has decided. */
export async function arrivedInGap(sql: Sql, network: string, wallet: Address): Promise<Micro> {
  const { rows } = await sql.query<{ micro: Micro }>(
    `select coalesce(sum(amount_micro), 0)::bigint as micro from transfer
     where network = $1 and sender = $2 and payment_key is not null and posted_as = 'gap'`,
    [network, wallet],
  )
  return rows[0]?.micro ?? 0n
}

/** Draws are taken to have used what is final first, so that what may vanish is never sent away. */
async function notFinal(sql: Sql, network: string, wallet: Address): Promise<Micro> {
  const { rows } = await sql.query<{ micro: bigint }>({
    name: 'credit_not_final',
    text: `select coalesce(sum(amount_micro), 0)::bigint as micro from payment
      where network = $1 and payer = $2 and open_to_payer and not final
        and (state = 'credited' or (state = 'served' and adds_credit))`,
    values: [network, wallet],
  })
  return rows[0]?.micro ?? 0n
}

/**
 * Payments of a wallet that can still bring or take money: under way, refused and not past their time, in blocks that
 * are not final, or transfers that are not posted. Credit leaves only when there are none.
 */
export async function openPayments(sql: Sql, network: string, wallet: Address): Promise<number> {
  const { rows } = await sql.query<{ open: bigint }>(
    `select (select count(*) from payment where network = $1 and payer = $2 and open_to_payer and not final
        and (state in ('claimed','settling','unknown','failed','released','settled','credited')
          or (state = 'served' and adds_credit)))
      + (select count(*) from transfer where network = $1 and sender = $2 and posted_as is null and final) as open`,
    [network, wallet],
  )
  return Number(rows[0]?.open ?? 0n)
}
