// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {B20Rules} from "./B20Rules.sol";

/// Stands at a token's address. Until the factory has created the token it behaves as the empty account it stands for:
/// every call succeeds with nothing.
contract B20Stub {
    fallback() external payable {
        if (B20Rules.lifecycle() == 0 && msg.sender != B20Rules.FACTORY) return;
        address code = B20Rules.TOKEN_CODE;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), code, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch ok
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}
