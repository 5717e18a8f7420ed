/** Shops that make demo data would do so while the till is measured. */
export const withoutDemoData = { MATRIX: '{"demo":"off"}' }
