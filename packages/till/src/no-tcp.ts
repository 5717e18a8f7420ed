/** Stands for every entry point that a seller imports, where a runtime says that it has no TCP. */
function unsupported(): never {
  throw new Error(
    "@assay/till needs TCP to reach its database, and this runtime has none: run it on Node; in Next, export const runtime = 'nodejs'",
  )
}

export {
  unsupported as all,
  unsupported as ConfigError,
  unsupported as cdp,
  unsupported as createTill,
  unsupported as documents,
  unsupported as embedded,
  unsupported as http,
  unsupported as listener,
  unsupported as local,
  unsupported as Problem,
  unsupported as refusal,
  unsupported as sell,
  unsupported as sellTools,
  unsupported as sold,
  unsupported as testNetwork,
  unsupported as testTill,
}
