// A production node with every shop whose chains run in another process; see idle.ts.
import type { Devnet } from '../../packages/till/src/devnet/index.ts'
import { startProductionNode } from '../../test/harness/production-node.ts'
import { answerCommands } from '../process/commands.ts'

const chainAt = (chainId: number, url: string) => {
  const request = async (method: string, params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return ((await response.json()) as { result: unknown }).result
  }
  const fund = (address: string, { wei }: { wei: bigint }) =>
    request('hardhat_setBalance', [address, `0x${wei.toString(16)}`])
  return { chainId, url, request, control: { fund } } as unknown as Devnet
}

const [base = '', polygon = ''] = (process.env['CHAIN_URLS'] ?? '').split(',')
const node = await startProductionNode([chainAt(8453, base), chainAt(137, polygon)], { ownShops: 'all' })

answerCommands({ pid: () => process.pid }, () => node.stop())
