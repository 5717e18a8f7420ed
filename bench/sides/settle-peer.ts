// The stock facilitator with one viem wallet and viem's nonce manager, on an embedded chain of the same kind.
import { x402Facilitator } from '@x402/core/facilitator'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator'
import { createWalletClient, publicActions } from 'viem'
import { nonceManager, privateKeyToAccount } from 'viem/accounts'
import { base as baseChain } from 'viem/chains'
import { demoAccount, devnetTransport, startDevnet } from '../../packages/till/src/devnet/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { benchPayer, paymentPayload, signPayment } from '../load/sign-payments.ts'
import { answerCommands, cpuMicros } from '../process/commands.ts'
import { countSettled, payees, settleTerms } from './settle-common.ts'

const payers = Number(process.env['PAYERS'])
const devnet = await startDevnet({ chainId: 8453, fund: payees(payers), clock: systemClock, log: silentLog })
const account = privateKeyToAccount(demoAccount('settler').privateKey, { nonceManager })
const wallet = createWalletClient({
  account,
  chain: baseChain,
  transport: devnetTransport(devnet),
  // Far below viem's own default, so that it waits no longer for a receipt than we do.
  pollingInterval: 50,
}).extend(publicActions)
const facilitator = registerExactEvmScheme(new x402Facilitator(), {
  networks: 'eip155:8453',
  signer: toFacilitatorEvmSigner({ ...wallet, address: account.address } as unknown as Parameters<
    typeof toFacilitatorEvmSigner
  >[0]),
})

answerCommands(
  {
    cpu: cpuMicros,
    settle: async () => {
      const terms = settleTerms(devnet)
      const requirements = { scheme: 'exact', ...terms.accepted } as PaymentRequirements
      const payloads = Array.from({ length: payers }, (_, index) => {
        const payload = paymentPayload(terms, signPayment(benchPayer(index), terms))
        return { ...payload, accepted: requirements } as unknown as PaymentPayload
      })
      const fromBlock = devnet.control.head().number + 1
      const startedMs = performance.now()
      const outcomes = await Promise.all(payloads.map((payload) => facilitator.settle(payload, requirements)))
      const seconds = (performance.now() - startedMs) / 1000
      return {
        seconds,
        reported: outcomes.filter((outcome) => outcome.success).length,
        onChain: await countSettled(devnet, fromBlock),
      }
    },
  },
  () => devnet.stop(),
)
