import type { Address } from '@assay/protocol/address'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import { Problem } from '../../kernel/problem.ts'
import { accounts, post } from '../../ledger/index.ts'
import type { Database, Tx } from '../../store/database.ts'
import { creditLines } from '../credit-balance.ts'
import { type Bond, dueBonds, lockBond } from './store.ts'

export type ReleaseDeps = { database: Database; clock: Clock }

/** Records the request; the money follows after the delay and never before the time it was locked for. */
export async function askRelease(
  { database, clock }: ReleaseDeps,
  owner: { address: Address; onlyNetwork: string | undefined },
  id: string,
): Promise<Bond> {
  return database.transaction(async (tx) => {
    const bond = await lockBond(tx, id)
    const isOwn =
      bond?.wallet === owner.address && (owner.onlyNetwork === undefined || owner.onlyNetwork === bond.network)
    if (!bond || !isOwn) throw new Problem('bond_unknown')
    if (bond.state === 'releasing') return bond
    if (bond.state !== 'locked') throw new Problem('bond_ended')
    const nowMs = clock.nowMs()
    const releaseAtMs = Math.max(bond.lockedUntilMs, nowMs + bond.releaseDelaySeconds * 1_000)
    await tx.query(`update agent_bond set state = 'releasing', release_asked_at = $2, release_at = $3 where id = $1`, [
      id,
      new Date(nowMs),
      new Date(releaseAtMs),
    ])
    return { ...bond, state: 'releasing', releaseAtMs }
  })
}

const perRunMax = 200

/** What is due goes back to the credit it came from; one that cannot does not keep the others waiting. Safe to repeat. */
export async function releaseDue({ database, clock, log }: ReleaseDeps & { log: Log }): Promise<number> {
  const nowMs = clock.nowMs()
  let released = 0
  for (const id of await dueBonds(database, nowMs, perRunMax))
    try {
      await database.transaction((tx) => returnBond(tx, id, nowMs))
      released += 1
    } catch (error) {
      log.error({ bond: id, error: String(error) }, 'a bond was not released')
    }
  return released
}

async function returnBond(tx: Tx, id: string, nowMs: number): Promise<void> {
  const bond = await lockBond(tx, id)
  if (bond?.state !== 'releasing' || bond.releaseAtMs === null || bond.releaseAtMs > nowMs) return
  const { wallet, network } = bond
  const leftMicro = bond.micro - bond.slashedMicro
  await tx.query(`update agent_bond set state = 'released', ended_at = $2 where id = $1`, [id, new Date(nowMs)])
  await post(tx, [
    {
      reference: `bond_release:${id}`,
      kind: 'bond_release',
      lines: [
        { account: accounts.creditBonded(network, wallet), amount: leftMicro },
        ...(await creditLines(tx, network, wallet, leftMicro)),
      ],
    },
  ])
}
