/**
 * Offers of one series, best price first and oldest first at a price. Buyers pay up front, so only writers' offers rest
 * here and a buyer takes what is there. Prices are micro-USDC as numbers: a premium is far below 2^53.
 */
export type Offer = { id: string; writer: string; price: number; seq: number; quantity: number }

export type Fill = {
  /** Null: written by the vault. */
  offerId: string | null
  writer: string
  quantity: number
  price: number
}

export type TakeRequest = {
  quantity: number
  /** The whole premium that was shown and agreed to: another one, higher or lower, is another deal. */
  total: number
  /** The last writer, asked only for what no other offers as cheaply. */
  vault?: { writer: string; price: number; quantity: number }
}

export type TakeOutcome =
  | { status: 'taken'; fills: Fill[]; total: number }
  | { status: 'too_few'; available: number }
  | { status: 'other_price'; total: number }

export type Level = { price: number; quantity: number; offers: number }

type Slot = Offer & { queued: boolean }
type Queue = { price: number; slots: Slot[]; head: number; quantity: number }

export type Book = {
  place(offer: Offer): void
  /** All of it or nothing, at exactly the total agreed. */
  take(request: TakeRequest): TakeOutcome
  /** What a take would cost, without taking. */
  cost(quantity: number, vault?: TakeRequest['vault']): { total: number; available: number }
  /** Contracts that were taken and not paid for return to their offer, at its old place in the queue. */
  restore(offerId: string, quantity: number): boolean
  /** Takes unsold contracts out; how many it was. */
  withdraw(offerId: string, quantity: number): number
  offer(id: string): Readonly<Offer> | undefined
  depth(levels: number): Level[]
}

export function createOrderBook(): Book {
  const offers = new Map<string, Slot>()
  const queues: Queue[] = []

  const queueAt = (price: number): Queue => {
    let low = 0
    let high = queues.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((queues[middle] as Queue).price < price) low = middle + 1
      else high = middle
    }
    const found = queues[low]
    if (found?.price === price) return found
    const made = { price, slots: [], head: 0, quantity: 0 }
    queues.splice(low, 0, made)
    return made
  }

  const enqueue = (slot: Slot) => {
    const { slots, head } = queueAt(slot.price)
    slot.queued = true
    const last = slots.at(-1)
    if (last === undefined || slots.length === head || last.seq < slot.seq) {
      slots.push(slot)
      return
    }
    let low = head
    let high = slots.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((slots[middle] as Slot).seq < slot.seq) low = middle + 1
      else high = middle
    }
    slots.splice(low, 0, slot)
  }

  const add = (slot: Slot, quantity: number) => {
    slot.quantity += quantity
    if (!slot.queued) enqueue(slot)
    queueAt(slot.price).quantity += quantity
  }

  return {
    place: ({ quantity, ...offer }) => {
      if (offers.has(offer.id)) throw new Error(`the offer ${offer.id} is in the book already`)
      const slot = { ...offer, quantity: 0, queued: false }
      offers.set(offer.id, slot)
      if (quantity > 0) add(slot, quantity)
    },
    take: (request) => take(queues, request),
    cost: (quantity, vault) => costOf(queues, quantity, vault),
    restore: (offerId, quantity) => {
      const slot = offers.get(offerId)
      if (!slot) return false
      add(slot, quantity)
      return true
    },
    withdraw: (offerId, quantity) => {
      const slot = offers.get(offerId)
      const taken = Math.min(slot?.quantity ?? 0, quantity)
      if (!slot || taken === 0) return 0
      slot.quantity -= taken
      queueAt(slot.price).quantity -= taken
      return taken
    },
    offer: (id) => offers.get(id),
    depth: (levels) => depthOf(queues, levels),
  }
}

function take(queues: Queue[], request: TakeRequest): TakeOutcome {
  const { total, available } = costOf(queues, request.quantity, request.vault)
  if (available < request.quantity) return { status: 'too_few', available }
  if (total !== request.total) return { status: 'other_price', total }
  const fills: Fill[] = []
  let left = request.quantity
  const limit = request.vault?.price ?? Number.POSITIVE_INFINITY
  while (left > 0) {
    const queue = queues[0]
    const vaultIsBetter = queue === undefined || queue.price > limit
    if (vaultIsBetter && request.vault && request.vault.quantity > 0) {
      const quantity = Math.min(left, request.vault.quantity - vaultTaken(fills))
      if (quantity > 0) {
        fills.push({ offerId: null, writer: request.vault.writer, quantity, price: request.vault.price })
        left -= quantity
        continue
      }
    }
    left -= takeFromQueue(queues, queue as Queue, left, fills)
  }
  return { status: 'taken', fills, total }
}

const vaultTaken = (fills: readonly Fill[]): number =>
  fills.reduce((sum, fill) => sum + (fill.offerId === null ? fill.quantity : 0), 0)

function takeFromQueue(queues: Queue[], queue: Queue, wanted: number, fills: Fill[]): number {
  let taken = 0
  while (taken < wanted && queue.head < queue.slots.length) {
    const slot = queue.slots[queue.head] as Slot
    const quantity = Math.min(slot.quantity, wanted - taken)
    if (quantity > 0) {
      slot.quantity -= quantity
      queue.quantity -= quantity
      taken += quantity
      fills.push({ offerId: slot.id, writer: slot.writer, quantity, price: slot.price })
    }
    if (slot.quantity > 0) break
    slot.queued = false
    queue.head += 1
  }
  trim(queues, queue)
  return taken
}

const trimAfter = 256

/** Slots already passed are cut off now and then, and a price that nobody asks any more is removed. */
function trim(queues: Queue[], queue: Queue): void {
  if (queue.head === queue.slots.length) queues.splice(queues.indexOf(queue), 1)
  else if (queue.head >= trimAfter) {
    queue.slots.splice(0, queue.head)
    queue.head = 0
  }
}

function costOf(
  queues: readonly Queue[],
  quantity: number,
  vault: TakeRequest['vault'],
): { total: number; available: number } {
  let left = quantity
  let total = 0
  let vaultLeft = vault?.quantity ?? 0
  const useVault = () => {
    if (!vault || vaultLeft === 0) return
    const taken = Math.min(left, vaultLeft)
    total += taken * vault.price
    vaultLeft -= taken
    left -= taken
  }
  for (const queue of queues) {
    if (left === 0) break
    if (vault && queue.price > vault.price) useVault()
    const taken = Math.min(left, queue.quantity)
    total += taken * queue.price
    left -= taken
  }
  useVault()
  return { total, available: quantity - left }
}

function depthOf(queues: readonly Queue[], levels: number): Level[] {
  const shown: Level[] = []
  for (const queue of queues) {
    if (shown.length === levels) break
    if (queue.quantity === 0) continue
    const offers = queue.slots.slice(queue.head).filter((slot) => slot.quantity > 0).length
    shown.push({ price: queue.price, quantity: queue.quantity, offers })
  }
  return shown
}
