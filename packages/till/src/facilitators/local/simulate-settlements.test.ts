import { expect, test } from 'vitest'
import { ChainUnreadable, createRpc, knownNetworks, type Network, RpcRefusal } from '../../chain/index.ts'
import { systemClock } from '../../kernel/clock.ts'
import { defaultGasLimits as gas } from './plan-settlement.ts'
import { simulateSettlements } from './simulate-settlements.ts'

const network = knownNetworks.find(({ chainId }) => chainId === 8453) as Network
const plan = { calls: [{ target: network.usdc.address, data: '0x00' as const }], gasLimit: 100_000n }

const reverts = new RpcRefusal(3, 'execution reverted')
const limited = new RpcRefusal(-32_005, 'daily request count exceeded')
const silent = new Error('no answer')

/** One operator for each failure. */
const play = (...failures: readonly Error[]) => {
  const endpoints = failures.map((failure, index) => ({
    name: `operator-${index}`,
    send: () => Promise.reject(failure),
  }))
  const rpc = createRpc(endpoints, { clock: systemClock })
  return simulateSettlements({ network, rpc, gas, sender: `0x${'1'.repeat(40)}` }, [plan])
}

test('a revert of one endpoint decided while the others were silent', async () => {
  for (const others of [[silent], [silent, silent], [limited, silent], [limited, limited]])
    for (const failures of [
      [reverts, ...others],
      [...others, reverts],
    ])
      await expect(play(...failures)).rejects.toBeInstanceOf(ChainUnreadable)
  const fails = { verdicts: [{ status: 'fails', reason: 'invalid_exact_evm_transaction_simulation_failed' }] }
  expect(await play(reverts, silent, reverts)).toMatchObject(fails)
  expect(await play(reverts)).toMatchObject(fails)
})
