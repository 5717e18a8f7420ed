/** A name under which one shop offers something to the others. Neither side knows the other; the type travels with the name. */
export type ShopPort<T> = { readonly name: string; readonly offered?: (value: T) => T }

export function shopPort<T>(name: string): ShopPort<T> {
  return { name }
}

export type ShopPorts = {
  /** Each port is offered at most once. */
  offer<T>(port: ShopPort<T>, value: T): void
  /** Undefined where no open shop offers it. Ask when it is needed: a shop opened later may offer it. */
  find<T>(port: ShopPort<T>): T | undefined
}

export function createShopPorts(): ShopPorts {
  const offered = new Map<string, unknown>()
  return {
    offer: (port, value) => {
      if (offered.has(port.name)) throw new Error(`two shops offer ${port.name}`)
      offered.set(port.name, value)
    },
    find: <T>(port: ShopPort<T>) => offered.get(port.name) as T | undefined,
  }
}
