import { requestChallenge, signIn, signInHeader, signRequest } from '../../packages/sdk/src/index.ts'
import { fastAccount } from '../load/fast-account.ts'
import { requestText } from '../load/requests.ts'
import { type LoadOptions, runLoad } from '../load/run-load.ts'
import { type BenchTerms, benchPayer, signPayments } from '../load/sign-payments.ts'
import { answerCommands } from '../process/commands.ts'
import { signCredentials } from './sign-credentials.ts'
import { type PermitTerms, signPermits } from './sign-permits.ts'
import { benchChannel, type ChannelTerms, signVouchers } from './sign-vouchers.ts'

export type CreditPlan = { host: string; target: string; count: number; wallets: number } & (
  | { kind: 'credit' | 'subscriber' }
  | { kind: 'exact' | 'mpp'; terms: BenchTerms }
  | { kind: 'permit2' | 'upto'; terms: PermitTerms }
  | { kind: 'channel' | 'stock channel'; terms: ChannelTerms }
)

const headersOf = (headers: Headers): string => [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')

async function headersFor(plan: CreditPlan): Promise<string[]> {
  const { host, target, count, wallets } = plan
  if (plan.kind === 'exact') return signPayments(plan.terms, count).map((header) => `PAYMENT-SIGNATURE: ${header}\r\n`)
  if (plan.kind === 'permit2' || plan.kind === 'upto')
    return signPermits(plan.terms, count).map((header) => `PAYMENT-SIGNATURE: ${header}\r\n`)
  if (plan.kind === 'mpp')
    return (await signCredentials(`http://${host}${target}`, plan.terms, count)).map(
      (header) => `Authorization: ${header}\r\n`,
    )
  if (plan.kind === 'channel' || plan.kind === 'stock channel')
    return signVouchers(plan.terms, count, wallets).map((header) => `PAYMENT-SIGNATURE: ${header}\r\n`)
  const made: string[] = []
  for (let n = 0; n < count; n += 1) {
    const account = fastAccount(n % wallets)
    if (plan.kind === 'credit') {
      const { headers } = await signRequest(`http://${host}${target}`, {}, { account } as never)
      made.push(headersOf(headers))
      continue
    }
    const origin = `http://${host}`
    const proof = await signIn(await requestChallenge(origin), { account, origin } as never)
    made.push(`${signInHeader}: ${proof}\r\n`)
  }
  return made
}

let requests: Buffer[] = []

answerCommands(
  {
    wallets: (count: number) => Array.from({ length: count }, (_, n) => benchPayer(n).address),
    channels: ({ terms, wallets }: { terms: ChannelTerms; wallets: number }) =>
      Array.from({ length: wallets }, (_, n) => benchChannel(n, terms)),
    // Signed before the clock runs: proofs and payments are good for a minute.
    sign: async (plan: CreditPlan) => {
      requests = (await headersFor(plan)).map((headers) => Buffer.from(requestText(plan.host, plan.target, headers)))
    },
    run: (options: LoadOptions) => {
      let next = 0
      return runLoad(options, () => requests[next++])
    },
  },
  async () => {},
)
