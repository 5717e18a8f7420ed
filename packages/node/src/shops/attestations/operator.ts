export { isUpheldAgainst } from './attest/upheld-against.ts'
export { acceptDistributor, readDistributors } from './creators/distributors.ts'
