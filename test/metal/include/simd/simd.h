// Vectors of Apple's: nothing of them is used.
#pragma once
