import { useState } from 'preact/hooks'
import { Checkout } from './checkout.tsx'
import type { Bought, Order } from './order.ts'

type Props = {
  order: Order
  label: string
  small?: boolean
  quiet?: boolean
  disabled?: boolean
  onBought: (bought: Bought) => void
}

/** Opens the checkout; nothing is asked or signed before. */
export function BuyButton({ order, label, small, quiet, disabled, onBought }: Props) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button
        type="button"
        class={`button${quiet ? '' : ' main'}${small ? ' small' : ''}`}
        disabled={disabled}
        onClick={() => setOpen(true)}
      >
        {label}
      </button>
      {open ? (
        <Checkout
          order={order}
          onClose={() => setOpen(false)}
          onBought={(bought) => {
            setOpen(false)
            onBought(bought)
          }}
        />
      ) : null}
    </>
  )
}
