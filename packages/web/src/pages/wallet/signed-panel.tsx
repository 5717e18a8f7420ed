import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAnswer } from '../../node/use-answer.ts'
import { Await } from '../../ui/parts.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'

type Props<T> = {
  id: string
  title: string
  wallet: Wallet
  why: string
  read: () => Promise<T>
  children: (value: T, again: () => void) => ComponentChildren
  /** Below, whether it was shown or not. */
  footer?: (shown: boolean) => ComponentChildren
}

/** Something only the wallet itself may see. A demo wallet signs by itself; any other is asked when its owner says so. */
export function SignedPanel<T>({ id, title, wallet, why, read, children, footer }: Props<T>) {
  const [asked, setAsked] = useState(wallet.kind === 'demo')
  const [answer, again] = useAnswer(asked ? id : null, read)
  return (
    <section class="sheet" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <Await
        of={answer}
        what={title}
        again={again}
        idle={
          <div class="stack tight">
            <p class="soft">{why}</p>
            <div>
              <button type="button" class="button" onClick={() => setAsked(true)}>
                Sign and show
              </button>
            </div>
          </div>
        }
      >
        {(value) => children(value, again)}
      </Await>
      {footer?.(answer.state === 'done')}
    </section>
  )
}
