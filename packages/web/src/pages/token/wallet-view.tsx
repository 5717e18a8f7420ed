import type { TokenCheck } from '@assay/sdk'
import { Badge, Hex, type Tone } from '../../ui/parts.tsx'

const questions = [
  ['hold', 'Can I hold it?'],
  ['send', 'Can I send it?'],
  ['receive', 'Can I receive it?'],
  ['be_frozen', 'Can I be frozen?'],
  ['be_seized', 'Can it be taken from me?'],
] as const

const harmful = new Set(['be_frozen', 'be_seized'])

/** What the powers mean for one holder. */
export function WalletView({ wallet }: { wallet: NonNullable<TokenCheck['wallet']> }) {
  return (
    <section class="sheet" aria-labelledby="for-me">
      <header>
        <h2 id="for-me">For this wallet</h2>
        <Hex value={wallet.wallet} />
      </header>
      <dl class="facts">
        {questions.map(([key, question]) => {
          const { answer, why } = wallet[key]
          return [
            <dt key={key}>{question}</dt>,
            <dd key={`${key} answer`}>
              <Badge tone={toneOf(answer, harmful.has(key))}>{answer}</Badge> <span class="soft">{why}</span>
            </dd>,
          ]
        })}
      </dl>
    </section>
  )
}

function toneOf(answer: 'yes' | 'later' | 'no' | 'unknown', harms: boolean): Tone {
  if (answer === 'unknown') return 'calm'
  if (answer === 'later') return 'warn'
  return (answer === 'yes') === harms ? 'bad' : 'good'
}
