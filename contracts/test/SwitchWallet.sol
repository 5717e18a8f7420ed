// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IERC1271} from "../SignatureCheck.sol";

/// Says yes or no as it was last told: valid when checked, invalid when settled.
contract SwitchWallet is IERC1271 {
    bool public valid = true;

    function setValid(bool newValid) external {
        valid = newValid;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        return valid ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}
