import { rewardAccounts } from '../../packages/node/src/shops/rewards/accounts.ts'
import { createChain, createRpc } from '../../packages/till/src/chain/index.ts'
import {
  demoNetwork,
  devnetEndpoint,
  testHolder,
  testKey,
  testWallets,
} from '../../packages/till/src/chain/wallet/wallet.fixture.ts'
import { startDevnet } from '../../packages/till/src/devnet/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { createIds } from '../../packages/till/src/kernel/ids.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { silentMetrics } from '../../packages/till/src/kernel/metrics.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { accounts, credit, debit, post } from '../../packages/till/src/ledger/index.ts'
import { createCustodyKey, parsePayoutPolicy, runPayouts } from '../../packages/till/src/payouts/index.ts'
import { payoutsPerTransaction } from '../../packages/till/src/payouts/send-signed.ts'
import { openStore } from '../../packages/till/src/store/open-store.ts'
import { allOwners } from '../../packages/till/src/store/testing.ts'

const payees = 500

/** 500 affiliates, each owed 12 USD, paid on an embedded chain. */
export async function measurePayouts(home: string) {
  const ports = { clock: systemClock, log: silentLog, rng: systemRng }
  const store = await openStore({
    home,
    migrations: (await allOwners()).slice(1),
    port: 0,
    ...ports,
    onProgress: () => {},
    onLockLost: () => {},
  })
  const devnet = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog })
  const holder = await testHolder(store.database)
  const endpoint = devnetEndpoint(devnet)
  const network = demoNetwork(devnet)
  const wallets = testWallets({ network, endpoints: [endpoint], database: store.database, holder })
  try {
    const custody = createCustodyKey(testKey('bench custody').privateKey)
    await devnet.control.fund(custody.address, { microUsdc: 10_000_000_000n, wei: 0n })
    await post(store.database, [
      {
        reference: 'opening',
        kind: 'opening',
        lines: [
          debit(accounts.onchain(network.caip2, 'custody'), 10_000_000_000n),
          credit(accounts.operator(network.caip2, 'usdc'), 10_000_000_000n),
        ],
      },
    ])
    await post(
      store.database,
      Array.from({ length: payees }, (_, index) => ({
        reference: `owe:${index}`,
        kind: 'affiliate',
        lines: [
          debit(rewardAccounts.affiliateExpense(network.caip2, 'bench.sale'), 12_000_000n),
          credit(accounts.payable(network.caip2, testKey(`affiliate ${index}`).address, 'affiliate'), 12_000_000n),
        ],
      })),
    )
    const rpc = createRpc([endpoint], { clock: systemClock })
    const checkContractSignature = async () => 'invalid' as const
    const chain = createChain({ network, rpc, clock: systemClock, checkContractSignature, headAgeMsMax: 0 })
    const startedMs = performance.now()
    await runPayouts({
      ...ports,
      database: store.database,
      ids: createIds(systemClock, systemRng),
      metrics: silentMetrics,
      policy: parsePayoutPolicy(),
      chains: [{ chain, rpc, key: custody, wallets }],
      purposes: [{ purpose: 'affiliate' }],
      isPaused: async () => false,
    })
    const seconds = (performance.now() - startedMs) / 1000
    const { rows } = await store.database.query<{ paid: bigint; transactions: bigint }>(
      `select count(*) as paid, count(distinct transaction) as transactions from payout where state = 'paid'`,
    )
    const gas = await store.database.query<{ gas: bigint }>(
      `select sum(gas_used)::bigint as gas from settlement_transaction where purpose = 'payout'`,
    )
    return {
      payees,
      paid: Number(rows[0]?.paid),
      transactions: Number(rows[0]?.transactions),
      seconds: Number(seconds.toFixed(2)),
      gas_each: Math.round(Number(gas.rows[0]?.gas ?? 0n) / payees),
      required: Math.ceil(payees / payoutsPerTransaction(network)),
    }
  } finally {
    await wallets.stop()
    await devnet.stop()
    await store.stop()
  }
}
