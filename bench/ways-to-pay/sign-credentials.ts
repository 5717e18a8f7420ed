import { toHex, utf8 } from '../../packages/protocol/src/bytes.ts'
import { keccak256 } from '../../packages/till/src/kernel/keccak.ts'
import { type BenchTerms, benchPayer, signPayment } from '../load/sign-payments.ts'

const payerCount = 2_000

/** Values of Authorization for one network: each answers the challenge of its own 402. */
export async function signCredentials(url: string, terms: BenchTerms, count: number): Promise<string[]> {
  const made: string[] = []
  for (let index = 0; index < count; index += 1) {
    const answer = await fetch(url)
    await answer.arrayBuffer()
    const challenge = Object.fromEntries(
      [...(answer.headers.get('www-authenticate') ?? '').matchAll(/([a-z]+)="([^"\\]*)"/g)].map(([, name, value]) => [
        name,
        value,
      ]),
    ) as Record<'id' | 'realm' | 'expires', string>
    const { authorization, signature } = signPayment(benchPayer(index % payerCount), terms, {
      nonce: toHex(keccak256(utf8(challenge.id + challenge.realm))),
      validBefore: BigInt(Date.parse(challenge.expires) / 1_000),
    })
    const texts = Object.fromEntries(Object.entries(authorization).map(([name, value]) => [name, String(value)]))
    const credential = { challenge, payload: { type: 'authorization', ...texts, signature } }
    made.push(`Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`)
  }
  return made
}
