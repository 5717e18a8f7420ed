import type { Address } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import { ensureDeployed } from '@assay/till/chain/own-contract'
import { nowSeconds } from '@assay/till/kernel/clock'
import { encodeFunctionData } from 'viem'
import { distributorAbi } from './contracts.ts'
import type { CreatorDeps, OwnChain } from './deps.ts'

type Asked = { contract: Address; account: Buffer; wallet: Address; to: Address }

const validSeconds = 3_600
const movesAtOnce = 20

/**
 * Announces moves on chain that were asked for, at each contract whose mover this node is. What is on its way in a root
 * comes first, so that the move covers it.
 */
export async function sendMoves(deps: CreatorDeps, place: OwnChain): Promise<void> {
  const { database, mover } = deps
  if (!mover) return
  const network = place.network.caip2
  const { rows } = await database.query<Asked>(
    `select m.contract, m.account, m.wallet, m.to_wallet as to from creator_move m
     join creator_distributor d on d.network = m.network and d.contract = m.contract and d.mover = $2
     where m.network = $1 and m.state = 'asked'
       and not exists (select from creator_accrual a where a.network = m.network and a.wallet = m.wallet
         and a.state = 'committing' and coalesce(a.payee_domain, a.domain) = m.domain)
       and not exists (select from settlement_transaction t where t.network = m.network and t.purpose = 'creator_move'
         and t.state in ('signed', 'broadcast') and t.reference_ids @> array['creator_move:' || m.contract || ':' || encode(m.account, 'hex') || ':' || m.wallet])
     order by m.asked_at limit ${movesAtOnce}`,
    [network, mover.address],
  )
  for (const { contract, account, wallet, to } of rows) {
    if (contract === place.contract && !(await ensureDeployed(deps, place, place.distributor))) continue
    const request = { account: toHex(account), wallet, to, validBefore: BigInt(nowSeconds(deps.clock) + validSeconds) }
    const call = {
      to: contract,
      data: encodeFunctionData({
        abi: distributorAbi,
        functionName: 'requestMove',
        args: [
          request.account,
          wallet,
          to,
          request.validBefore,
          mover.sign({ chainId: place.network.chainId, contract }, request),
        ],
      }),
    }
    // One that has landed or was refused fails here, and is seen at the next final block.
    const passes = await place.rpc.first('eth_call', [{ ...call, from: place.wallets.addresses[0] }, 'latest']).then(
      () => true,
      () => false,
    )
    if (!passes) continue
    const sent = await place.wallets.send({
      purpose: 'creator_move',
      references: [`creator_move:${contract}:${account.toString('hex')}:${wallet}`],
      ...call,
      gasLimit: 200_000n,
      usefulUntil: Number(request.validBefore),
      stillWanted: () => true,
    })
    if (sent.status === 'sent') await Promise.race([sent.outcome, deps.clock.sleep(10_000)])
    else deps.log.warn({ network, reason: sent.reason }, 'a move of creators’ money was not sent')
  }
}
