import { isDeepStrictEqual } from 'node:util'
import type { Asked, Given, Mistake, Sell } from './exchange.ts'
import { mistakes } from './mistakes.ts'

type Comparison = {
  /** Answers as a seller without a mistake does. */
  mistake: Mistake
  /** Resolves when every answer was compared. */
  done(): Promise<unknown>
}

/**
 * Records which mistakes would have changed an answer: with any other one the caller would have seen the same. `place` says
 * where a request belongs to when it arrives.
 */
export function compareMistakes<Place>(place: () => Place, note: (mistake: string, at: Place) => void): Comparison {
  const compared: Promise<void>[] = []
  const mistake: Mistake = (sell) => {
    const given = new Map<Asked, Promise<Given>>()
    // A mistake that asks the seller for something else has changed the exchange.
    const repeat: Sell = async (asked) => given.get(asked) ?? { status: 0, headers: {}, body: '' }
    const variants = Object.entries(mistakes).map(([name, make]) => ({ name, sell: make(repeat) }))
    return (request) => {
      const asked = { ...request, facts: once(request.facts), lastFault: once(request.lastFault) }
      const at = place()
      const answer = sell(asked)
      given.set(asked, answer)
      const compare = ({ name, sell: wrong }: (typeof variants)[number]) =>
        Promise.all([wrong(asked), answer]).then(
          ([one, other]) => {
            if (!isDeepStrictEqual(one, other)) note(name, at)
          },
          () => note(name, at),
        )
      compared.push(Promise.all(variants.map(compare)).then(() => void given.delete(asked)))
      return answer
    }
  }
  return { mistake, done: () => Promise.all(compared) }
}

/** Read from the chain for the first mistake that wants it. */
function once<Args extends unknown[], Value>(read: (...args: Args) => Promise<Value>): typeof read {
  let known: Promise<Value> | undefined
  return (...args) => {
    known ??= read(...args)
    return known
  }
}
