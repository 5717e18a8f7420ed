import { isLoopbackHost } from '@assay/protocol/loopback'

/** Nobody on the way can read or change what is sent. */
export const isPrivateUrl = ({ protocol, hostname }: URL): boolean => protocol === 'https:' || isLoopbackHost(hostname)
