import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { ChainUnreadable, type Rpc } from '@assay/till/chain'
import { decodeFunctionResult, encodeFunctionData, erc20Abi } from 'viem'
import { distributorAbi } from './contracts.ts'

export type DistributorState = {
  epoch: bigint
  totalMicro: Micro
  claimedMicro: Micro
  balanceMicro: Micro
}

const atBlock = (number: bigint) => `0x${number.toString(16)}`

type Known = { block: bigint; state: DistributorState | undefined }
const lastRead = new WeakMap<Rpc, Map<Address, Known>>()

/** What the contract says at a final block, agreed on by enough endpoints; undefined while it is not there. Read once a block. */
export async function readDistributor(
  rpc: Rpc,
  contract: Address,
  usdc: Address,
  block: bigint,
): Promise<DistributorState | undefined> {
  const known = lastRead.get(rpc) ?? new Map<Address, Known>()
  lastRead.set(rpc, known)
  const last = known.get(contract)
  if (last?.block === block) return last.state
  const state = await readAt(rpc, contract, usdc, block)
  known.set(contract, { block, state })
  return state
}

async function readAt(
  rpc: Rpc,
  contract: Address,
  usdc: Address,
  block: bigint,
): Promise<DistributorState | undefined> {
  const code = await rpc.agreed('eth_getCode', [contract, atBlock(block)])
  if (code === undefined) throw new ChainUnreadable('the endpoints do not agree about the distributor')
  if (typeof code !== 'string' || code.length <= 2) return undefined
  const call = async (to: Address, data: Hex): Promise<Hex> => {
    const answer = await rpc.agreed('eth_call', [{ to, data }, atBlock(block)])
    if (typeof answer !== 'string') throw new ChainUnreadable('the endpoints do not agree about the distributor')
    return answer as Hex
  }
  const own = async (functionName: string): Promise<unknown> =>
    decodeFunctionResult({
      abi: distributorAbi,
      functionName,
      data: await call(contract, encodeFunctionData({ abi: distributorAbi, functionName })),
    })
  const [epoch, total, claimed, balance] = await Promise.all([
    own('epoch'),
    own('total'),
    own('claimedTotal'),
    call(usdc, encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [contract] })),
  ])
  return {
    epoch: BigInt(epoch as bigint),
    totalMicro: total as bigint,
    claimedMicro: claimed as bigint,
    balanceMicro: BigInt(balance),
  }
}
