import { exactPayment } from '../../packages/till/src/facilitators/index.ts'

// Our local facilitator, as the node composes it, on an embedded chain and the embedded database (fsync on).

import { startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import type { Facilitator } from '../../packages/till/src/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { startChain } from '../../test/harness/start-chain.ts'
import { type BenchTerms, benchPayer, signPayment } from '../load/sign-payments.ts'
import { answerCommands, cpuMicros } from '../process/commands.ts'
import { withoutDemoData } from './quiet-config.ts'
import { countSettled, payees, settleTerms } from './settle-common.ts'

const payers = Number(process.env['PAYERS'])
const ports = { clock: systemClock, log: silentLog }
const base = await startChain({ chainId: 8453, port: 0, fund: payees(payers), ...ports })
const polygon = await startChain({ chainId: 137, port: 0, ...ports })
let facilitator: Facilitator | undefined
const node = await startNode(
  parseConfig({
    PORT: '0',
    ASSAY_HOME: process.env['ASSAY_HOME'],
    INTENTS: '{"demo":"off"}',
    BASE_RPC_URLS: base.url,
    POLYGON_RPC_URLS: polygon.url,
    LOG_LEVEL: 'silent',
    ...withoutDemoData,
  }),
  {
    devnets: [base, polygon],
    log: silentLog,
    intercept: {
      facilitator: (real) => {
        facilitator = real
        return real
      },
    },
  },
)

function paymentsOf(terms: BenchTerms) {
  return Array.from({ length: payers }, (_, index) => {
    const { authorization, signature } = signPayment(benchPayer(index), terms)
    return exactPayment({
      paymentId: `pay_${authorization.nonce.slice(2, 28)}`,
      network: terms.accepted.network,
      asset: { address: base.usdc, ...terms.accepted.extra },
      payTo: authorization.to,
      amountMicro: authorization.value,
      maxTimeoutSeconds: terms.accepted.maxTimeoutSeconds,
      resource: { url: terms.resourceUrl },
      signature,
      authorization,
    })
  })
}

answerCommands(
  {
    cpu: cpuMicros,
    settle: async () => {
      const payments = paymentsOf(settleTerms(base))
      const fromBlock = base.control.head().number + 1
      const startedMs = performance.now()
      const outcomes = await Promise.all(
        payments.map((payment) => facilitator?.settle(payment, new AbortController().signal)),
      )
      const seconds = (performance.now() - startedMs) / 1000
      const reported = outcomes.filter((outcome) => outcome?.status === 'submitted').length
      return { seconds, reported, onChain: await countSettled(base, fromBlock) }
    },
  },
  async () => {
    await node.stop()
    await Promise.all([base.stop(), polygon.stop()])
  },
)
