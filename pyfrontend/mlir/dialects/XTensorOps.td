// The dialect, as the generator of Python builders wants it: one file under dialects/.
#ifndef XTENSOR_PYTHON_OPS_TD
#define XTENSOR_PYTHON_OPS_TD

include "XTensor/XTensorOps.td"

#endif // XTENSOR_PYTHON_OPS_TD
