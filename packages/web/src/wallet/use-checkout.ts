import type { Purchase, Quote } from '@assay/sdk'
import { useEffect, useState } from 'preact/hooks'
import { announce } from '../app/announce.ts'
import { useStore } from '../app/store.ts'
import { useNode } from '../node/context.ts'
import { asProblem, type ProblemError } from '../node/problem.ts'
import type { Bought, Order } from './order.ts'
import { wallet as walletStore } from './wallet-store.ts'

export type Step =
  | { step: 'asking' }
  | { step: 'priced'; quote: Quote }
  | { step: 'paying'; quote: Quote; text: string }
  | { step: 'failed'; problem: ProblemError; quote?: Quote; purchase?: Purchase }

/** From the price to the answer. Nothing is signed before `pay` is called with the quote that was shown. */
export function useCheckout(order: Order, onBought: (bought: Bought) => void) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [step, setStep] = useState<Step>({ step: 'asking' })
  // The order does not change while the dialog is open.
  useEffect(() => {
    if (wallet === undefined) return
    let stale = false
    setStep({ step: 'asking' })
    import('./sign-and-pay.ts')
      .then(({ quoteOrder }) => quoteOrder(index, wallet, order))
      .then(
        (outcome) => {
          if (stale) return
          if (outcome.status === 'answered') onBought(outcome.bought)
          else setStep({ step: 'priced', quote: outcome.quote })
        },
        (error: unknown) => stale || setStep({ step: 'failed', problem: asProblem(error) }),
      )
    return () => {
      stale = true
    }
  }, [wallet])

  const pay = async (quote: Quote, purchase?: Purchase) => {
    if (wallet === undefined) return
    const tell = (text: string) => {
      setStep({ step: 'paying', quote, text })
      announce(text)
    }
    tell(wallet.kind === 'demo' ? 'Signing with the demo wallet' : 'Waiting for your wallet')
    const { payOrder, openPurchase } = await import('./sign-and-pay.ts')
    try {
      const bought = await payOrder(index, wallet, order, {
        quote,
        onProgress: ({ kind }) => {
          if (kind === 'paying') tell('Paying: the node prepares the answer, then settles')
          if (kind === 'waiting') tell('The node has not decided yet; it is asked again with the same payment')
        },
        ...(purchase === undefined ? {} : { purchase }),
      })
      announce(`Paid: ${order.what}`)
      onBought(bought)
    } catch (error) {
      const open = openPurchase(error)
      setStep({ step: 'failed', problem: asProblem(error), quote, ...(open === undefined ? {} : { purchase: open }) })
    }
  }
  return { step, pay }
}
