import type { Address } from '@assay/protocol/address'
import { type Rpc, RpcRefusal } from '@assay/till/chain'
import { encodeAbiParameters } from 'viem'
import { expect, test } from 'vitest'
import { createRegistries } from './registry.ts'

const registry = '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432' as Address
const wallet = `0x${'12'.repeat(20)}` as Address
const owner = `0x${'34'.repeat(20)}` as Address
const none = `0x${'00'.repeat(20)}` as Address
const selectors = { getAgentWallet: '0x00339509', ownerOf: '0x6352211e' }

type Chain = { code: string; wallet?: Address; owner?: Address; down?: boolean }

function open(chain: Chain) {
  let nowMs = 0
  const asked: string[] = []
  const first = async (method: string, params: readonly unknown[]) => {
    asked.push(method)
    if (chain.down) throw new Error('unreachable')
    if (method === 'eth_getCode') return chain.code
    const { data } = params[0] as { data: string }
    const answer = data.startsWith(selectors.ownerOf) ? chain.owner : chain.wallet
    if (answer === undefined) throw new RpcRefusal(3, 'execution reverted')
    return encodeAbiParameters([{ type: 'address' }], [answer])
  }
  const registries = createRegistries({
    rpcs: new Map([['eip155:8453', { first } as unknown as Rpc]]),
    registries: new Map([['eip155:8453', registry]]),
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {} },
  })
  return { registries, asked, chain, pass: (ms: number) => (nowMs += ms) }
}

test('an address without code is no registry, and nothing is said of its agents', async () => {
  const { registries } = open({ code: '0x', wallet })
  expect(await registries.registryOn('eip155:8453')).toBeUndefined()
  expect(await registries.walletOf('eip155:8453', '1')).toBeUndefined()
})

test('a chain that is not configured has no registry', async () => {
  expect(await open({ code: '0x60' }).registries.registryOn('eip155:1')).toBeUndefined()
})

test('the wallet that is set speaks for the agent; where a transfer cleared it, the owner does', async () => {
  const set = open({ code: '0x60', wallet, owner })
  expect(await set.registries.registryOn('eip155:8453')).toBe('eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432')
  expect(await set.registries.walletOf('eip155:8453', '42')).toBe(wallet)
  expect(await open({ code: '0x60', wallet: none, owner }).registries.walletOf('eip155:8453', '42')).toBe(owner)
  expect(await open({ code: '0x60' }).registries.walletOf('eip155:8453', '42')).toBeUndefined()
})

test('a chain that cannot be read is unknown, not unregistered', async () => {
  const { registries } = open({ code: '0x60', down: true })
  expect(await registries.walletOf('eip155:8453', '42')).toBe('unknown')
  expect(await registries.registryOn('eip155:8453')).toBeUndefined()
})

test('what was read is kept for a minute, and read again after it', async () => {
  const { registries, asked, chain, pass } = open({ code: '0x60', wallet })
  await registries.walletOf('eip155:8453', '42')
  await registries.walletOf('eip155:8453', '42')
  expect(asked).toEqual(['eth_getCode', 'eth_call'])
  chain.wallet = owner
  pass(60_001)
  expect(await registries.walletOf('eip155:8453', '42')).toBe(owner)
})
