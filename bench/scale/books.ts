import type { Devnet } from '../../packages/node/src/devnet/index.ts'
import { balanceDifferences, trialBalance, verifySeals } from '../../packages/till/src/ledger/index.ts'
import type { Database } from '../../packages/till/src/store/database.ts'

/** What is wrong with the books of a node, in words; empty when nothing is. */
export async function faultsInBooks(database: Database): Promise<string[]> {
  const faults: string[] = []
  const broken = await verifySeals(database)
  if (broken) faults.push(`seal ${broken.seq}: ${broken.what}`)
  for (const [unit, sum] of Object.entries((await trialBalance(database)).sumByUnit))
    if (sum !== 0n) faults.push(`${unit} sums to ${sum}`)
  const differences = await balanceDifferences(database)
  if (differences.length > 0) faults.push(`${differences.length} balances differ from their entries`)
  const { rows } = await database.query<{ id: string }>(
    `select p.id from payment p where p.state = 'served' and not exists
       (select 1 from ledger_transaction t where t.payment_id = p.id and t.kind = 'sale')`,
  )
  if (rows.length > 0) faults.push(`${rows.length} payments were served and not posted`)
  return faults
}

const word = (hex: string) => hex.replace(/^0x/, '').toLowerCase().padStart(64, '0')

/** From the token itself: whether an authorization was used. */
export async function isCharged(devnet: Devnet, payer: string, nonce: string): Promise<boolean> {
  // authorizationState(address,bytes32)
  const data = `0xe94a0102${word(payer)}${word(nonce)}`
  return BigInt((await devnet.request('eth_call', [{ to: devnet.usdc, data }, 'latest'])) as string) === 1n
}

export async function usdcOf(devnet: Devnet, address: string): Promise<bigint> {
  const data = `0x70a08231${word(address)}`
  return BigInt((await devnet.request('eth_call', [{ to: devnet.usdc, data }, 'latest'])) as string)
}
